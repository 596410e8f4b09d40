// The messages of invalid input. They never contain values, because those may be secrets.
import type { z } from 'zod'

/** Undefined where the schema has its own. */
export function messageFor(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type') {
    return issue.input === undefined
      ? 'is required'
      : `must be ${typeNames[issue.expected] ?? `a ${issue.expected}`}`
  }
  if (issue.code === 'too_small' && issue.minimum === 1 && issue.origin === 'string')
    return 'must not be empty'
  if (issue.code === 'too_small')
    return sizeOf(issue.inclusive === false ? 'more than' : 'at least', issue.minimum, issue.origin)
  if (issue.code === 'too_big')
    return sizeOf(issue.inclusive === false ? 'less than' : 'at most', issue.maximum, issue.origin)
  // An empty text clears a setting, which is no choice to offer.
  if (issue.code === 'invalid_value')
    return `must be one of ${issue.values.map(String).filter(Boolean).join(', ')}`
  if (issue.code === 'invalid_format') return 'has an invalid format'
  if (issue.code === 'invalid_key') return issue.issues[0]?.message
  return undefined
}

const typeNames: Record<string, string> = {
  array: 'an array',
  boolean: 'true or false',
  int: 'a whole number',
  object: 'an object',
  record: 'an object',
}

function sizeOf(bound: string, size: number | bigint, origin: string): string {
  const isOne = Number(size) === 1
  if (origin === 'string') return `must have ${bound} ${size} ${isOne ? 'character' : 'characters'}`
  if (origin === 'array') return `must have ${bound} ${size} ${isOne ? 'entry' : 'entries'}`
  return `must be ${bound} ${size}`
}
