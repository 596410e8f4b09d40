// Guesses which line of an output names the error: Node.js, Go and others write it before a long trace.
import { withoutControlSequences } from './control-sequences.ts'

const errorPatterns = [
  // `TypeError: x`, `java.lang.IllegalStateException: x`, `Uncaught Error: x`, `Error [ERR_X]: x`
  /^(Uncaught |Unhandled )?[\w.$]*(Error|Exception)( \[\w+\])?(:|$)/,
  /^Exception in thread /,
  /^(panic|fatal|fatal error|error)( \w+)?(:|!|\[)/i,
  // `app.rb:1: cannot load such file (LoadError)`
  /\(([A-Z]\w*::)*\w*(Error|Exception)\)/,
  /^thread '.*' panicked at /,
  /\bFatal error: /,
  /\[(emerg|alert|crit|error|fatal)\] /i,
  /(^|[\s|"])(ERROR|FATAL|CRITICAL|PANIC)([\s|":]|$)/,
  /^npm (error|ERR!) /,
]

/** The name of an error is near the start of its line; a line of a log has up to 16 KiB. */
const readChars = 1000

export function namesError(line: string): boolean {
  // The builder prefixes the number of the step and its time.
  const text = withoutControlSequences(line.slice(0, readChars)).replace(/^(#\d+ )?(\d+\.\d+ )?\s*/, '')
  return errorPatterns.some((sign) => sign.test(text))
}

export interface Excerpt {
  add(line: string): void
  /** The first line that names an error, unless it is among the last ones; else null. */
  earlierError(): string | null
  lines(): string[]
}

export function createExcerpt(keptLines: number): Excerpt {
  let first: { line: string; number: number } | null = null
  let total = 0
  const kept: string[] = []
  return {
    add(line) {
      if (!first && namesError(line)) first = { line, number: total }
      total += 1
      kept.push(line)
      if (kept.length > keptLines) kept.shift()
    },
    earlierError: () => (first && first.number < total - kept.length ? first.line : null),
    lines: () => [...kept],
  }
}
