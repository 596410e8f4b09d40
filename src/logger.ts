// The daemon's own log: JSON lines on standard error, one object each, `level` and `msg` in words.
// Mind: whoever logs an error passes it as `err`; secrets and query strings never come here.
import { destination, pino } from 'pino'

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
  /** A logger that adds `fields` to each of its lines. */
  child(fields: object): Logger
}

/** Writes lines of `level` (trace, debug, info, warn, error, fatal, silent) and above to standard error. */
export function createLogger(options: { level: string; fd?: number }): Logger {
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: () => `,"ts":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    openDestination(options.fd ?? 2),
  )
}

/** Lines that nobody takes are kept up to this, then dropped. */
const keptBytes = 1024 * 1024

function openDestination(fd: number) {
  // Written at once: the last line before a crash is the one that matters.
  const stream = destination({ fd, sync: true, maxLength: keptBytes })
  // A log on a full disk must not end the daemon; unheard this event would.
  stream.on('error', () => {})
  return stream
}
