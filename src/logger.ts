// The daemon's own log on standard error: JSON lines with `level` and `msg`, or readable lines on a terminal.
// Errors are logged as `err`. Secrets and query strings must never be logged.
import { isatty } from 'node:tty'
import { destination, pino } from 'pino'
import { toText } from './log-text.ts'

export interface LogMethod {
  (fields: object, message?: string): void
  (message: string): void
}

export interface Logger {
  debug: LogMethod
  info: LogMethod
  warn: LogMethod
  error: LogMethod
  fatal: LogMethod
  child(fields: object): Logger
}

/** Writes lines of `level` (trace, debug, info, warn, error, fatal, silent) and above to standard error. */
export function createLogger(options: {
  level: string
  fd?: number
  format?: 'auto' | 'json' | 'text'
}): Logger {
  const { fd = 2, format = 'json' } = options
  const isTerminal = isatty(fd)
  const stream = openDestination(fd)
  const isText = format === 'text' || (format === 'auto' && isTerminal)
  const isColoured = isTerminal && !process.env.NO_COLOR
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: () => `,"ts":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    isText ? { write: (line: string) => stream.write(toText(line, isColoured)) } : stream,
  )
}

/** Lines that cannot be written are buffered up to this size, then dropped. */
const maxBufferedBytes = 1024 * 1024

function openDestination(fd: number) {
  // Written synchronously: the last line before a crash is the one that matters.
  const stream = destination({ fd, sync: true, maxLength: maxBufferedBytes })
  // A log on a full disk must not end the daemon: without a listener this event would.
  stream.on('error', () => {})
  return stream
}
