// Variables as a file of lines KEY=value, the way node reads them.
// Mind: that form has no escapes: a value with every kind of quotes cannot be written in it.
import { parseEnv } from 'node:util'
import type { EnvVar } from '../../http/schemas/env.ts'

/** The variables of such a file, each key once. */
export function parseEnvFile(text: string): EnvVar[] {
  const parsed = Object.entries(parseEnv(text))
  return parsed.map(([key, value]) => ({ key, value: value ?? '' }))
}

/** A line that reads back as exactly this value, whatever stands around it; null when there is none. */
export function toEnvLine({ key, value }: EnvVar): string | null {
  const quotes = isBare(value) ? '' : ["'", '"', '`'].find((quote) => !value.includes(quote))
  if (quotes === undefined) return null
  const line = `${key}=${quotes}${value}${quotes}`
  return isFaithful(line, value) ? line : null
}

/** What needs no quotes. */
function isBare(value: string): boolean {
  return /^[\w./:@%+,=-]*$/.test(value)
}

// Node reads `\n` in double quotes as a new line, and no carriage return at all.
function isFaithful(line: string, value: string): boolean {
  return Object.values(parseEnv(line))[0] === value
}
