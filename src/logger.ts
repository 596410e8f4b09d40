// The daemon's own log: JSON lines with `level` and `msg` on standard error, readable lines on a terminal, or
// entries of the journal under systemd.
// Errors are logged as `err`. Secrets and query strings must never be logged.
import { writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { destination, pino } from 'pino'
import { toJournalEntry, toText } from './log-text.ts'

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
  /** The descriptor of the journal's socket, for the format `auto`. */
  journal?: number | null
}): Logger & { level: string } {
  const { fd = 2, format = 'json', journal = null } = options
  const isTerminal = isatty(fd)
  const stream = openDestination(fd)
  const isText = format === 'text' || (format === 'auto' && isTerminal)
  const isColoured = isTerminal && !process.env.NO_COLOR
  const toStream = isText ? { write: (line: string) => stream.write(toText(line, isColoured)) } : stream
  const toJournal = (line: string) => {
    try {
      writeSync(journal!, toJournalEntry(line))
    } catch {
      // It is behind, or the line is longer than a datagram.
      toStream.write(line)
    }
  }
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: () => `,"ts":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    format === 'auto' && journal !== null ? { write: toJournal } : toStream,
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
