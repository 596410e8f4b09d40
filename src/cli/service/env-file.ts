// Variables as a file of KEY=value lines, in the format that node reads. It has no escapes, so a value with
// every kind of quotes cannot be written.
import { parseEnv } from 'node:util'
import type { EnvVar } from '../../api/env.ts'
import { usageFailure } from '../failure.ts'

/** The variables of an env file, each key once. Throws (usage) for a line that is not an assignment. */
export function parseEnvFile(text: string): EnvVar[] {
  assertSyntax(text)
  const parsed = Object.entries(parseEnv(text))
  return parsed.map(([key, value]) => ({ key, value: value ?? '' }))
}

/** A variable, whose quoted value may span several lines; a comment; or an empty line. */
const validLine =
  /[ \t]*(?:(?:export[ \t]+)?[\w.-]+[ \t]*=[ \t]*(?:'[^']*'|"[^"]*"|`[^`]*`|)[^\n]*|#[^\n]*|\r?)(?:\n|$)/y

// Rejects lines that Node's parser would silently skip.
function assertSyntax(text: string): void {
  for (let at = 0; at < text.length; at = validLine.lastIndex) {
    validLine.lastIndex = at
    if (validLine.test(text)) continue
    const line = text.slice(0, at).split('\n').length
    throw usageFailure(`line ${line} is not a variable`, 'a line is KEY=value, or starts with #')
  }
}

/** A line that is parsed back to exactly this value; null if no line can represent it. */
export function toEnvLine({ key, value }: EnvVar): string | null {
  const quotes = isBare(value) ? '' : ["'", '"', '`'].find((quote) => !value.includes(quote))
  if (quotes === undefined) return null
  const line = `${key}=${quotes}${value}${quotes}`
  return parsesBackTo(line, value) ? line : null
}

/** Whether the value needs no quotes. */
function isBare(value: string): boolean {
  return /^[\w./:@%+,=-]*$/.test(value)
}

// Node reads `\n` in double quotes as a newline, and cannot represent a carriage return.
function parsesBackTo(line: string, value: string): boolean {
  return Object.values(parseEnv(line))[0] === value
}
