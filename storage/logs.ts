// The logs of a directory, each by its id: append-only, numbered from 1, no number ever used twice. Appending
// never waits and never throws for the disk; who has much to say awaits `flush` now and then. A crash of the
// process takes nothing that was shown; a power cut may, except from logs that have ended.
import * as fs from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { StorageError } from './errors.ts'
import { FilePool } from './file-pool.ts'
import { Log, type LogContext, type LogLimits } from './log.ts'
import { type Batch, type LogLine, type LogStream, splitLine } from './log-line.ts'

export type { Batch, LogLine, LogStream } from './log-line.ts'

export interface LogOptions extends Partial<LogLimits> {
  /** How many descriptors may be open at once. */
  openFiles?: number
  /** How long an unused log stays in memory. */
  idleMs?: number
  /** Told what the disk refused; the lines stay in memory and are tried again. */
  onError?: (error: unknown) => void
}

export interface Logs {
  /** Written and shown within 50 ms. Lines over 16 KiB are split, lines after the end are dropped. */
  append(id: string, stream: LogStream, line: string, ts?: string): void
  /** Resolves when everything and the end mark are on the disk, or refused by it. Idempotent. */
  end(id: string): Promise<void>
  isEnded(id: string): boolean
  /** The number of the newest line that can be read, 0 for none. */
  head(id: string): number
  /**
   * Lines after `number`, or null while there are none: the same Batch for every follower when it is recent,
   * else up to 500 lines from the file. Where lines were dropped, the last missing number is a system line
   * that says how many are missing.
   */
  batchAfter(id: string, number: number): Promise<Batch | null> | Batch | null
  tail(id: string, lines: number): Promise<LogLine[]>
  /** Called after new lines, the end, and removal (which ends a log). Returns how to stop it. */
  watch(id: string, onChange: () => void): () => void
  /** Resolves when every line appended so far was offered to the disk. */
  flush(): Promise<void>
  remove(id: string): Promise<void>
  ids(): Promise<string[]>
  /** Writes what waits. Followers are not told: their logs have not ended. */
  close(): Promise<void>
}

const mebibyte = 1024 * 1024
const defaults: LogLimits & { openFiles: number; idleMs: number } = {
  headBytes: 32 * mebibyte,
  tailBytes: 32 * mebibyte,
  segmentBytes: 2 * mebibyte,
  pendingBytes: 64 * mebibyte,
  ringLines: 2000,
  ringBytes: mebibyte,
  flushMs: 50,
  retryMs: 1000,
  openFiles: 64,
  idleMs: 60_000,
}
const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

/** Opens, or makes, a directory of logs. Every call with something that is no id throws `invalid_log_id`. */
export function openLogs(directory: string, options: LogOptions = {}): Logs {
  fs.mkdirSync(directory, { recursive: true, mode: 0o700 })
  const limits = { ...defaults, ...options }
  const pool = new FilePool(limits.openFiles)
  const report = options.onError ?? (() => undefined)
  return new LogDirectory(directory, { limits, pool, pendingBytes: 0, report }, limits.idleMs)
}

class LogDirectory implements Logs {
  readonly #directory: string
  readonly #context: LogContext
  readonly #logs = new Map<string, { log: Log; usedAt: number }>()
  readonly #sweep: NodeJS.Timeout
  #isClosed = false

  constructor(directory: string, context: LogContext, idleMs: number) {
    this.#directory = directory
    this.#context = context
    this.#sweep = setInterval(() => this.#forgetIdle(idleMs), idleMs / 4).unref()
  }

  append(id: string, stream: LogStream, line: string, ts = new Date().toISOString()): void {
    if (this.#isClosed) return
    const log = this.#openToAppend(id)
    for (const piece of splitLine(line)) log?.append({ ts, stream, line: piece })
  }

  async end(id: string): Promise<void> {
    return this.#open(id).end()
  }

  isEnded(id: string): boolean {
    return this.#open(id).isEnded
  }

  head(id: string): number {
    return this.#open(id).head
  }

  batchAfter(id: string, number: number): Promise<Batch | null> | Batch | null {
    return this.#isClosed ? null : this.#open(id).batchAfter(number)
  }

  async tail(id: string, lines: number): Promise<LogLine[]> {
    return this.#isClosed ? [] : this.#open(id).tail(lines)
  }

  watch(id: string, onChange: () => void): () => void {
    return this.#open(id).watch(onChange)
  }

  async flush(): Promise<void> {
    await Promise.all([...this.#logs.values()].map(({ log }) => log.flush()))
  }

  async remove(id: string): Promise<void> {
    return this.#open(id).remove()
  }

  async ids(): Promise<string[]> {
    await this.flush()
    const names = await readdir(this.#directory)
    return names.filter((name) => idPattern.test(name)).sort()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#sweep)
    await Promise.all([...this.#logs.values()].map(({ log }) => log.close()))
    await this.#context.pool.close()
  }

  #open(id: string): Log {
    const usedAt = performance.now()
    const known = this.#logs.get(id)
    if (known !== undefined) {
      known.usedAt = usedAt
      return known.log
    }
    if (!idPattern.test(id)) throw new StorageError('invalid_log_id', `'${id}' cannot be the id of a log`)
    const log = new Log(join(this.#directory, id), this.#context)
    this.#logs.set(id, { log, usedAt })
    return log
  }

  #openToAppend(id: string): Log | null {
    try {
      return this.#open(id)
    } catch (error) {
      if (error instanceof StorageError) throw error
      this.#context.report(error)
      return null
    }
  }

  #forgetIdle(idleMs: number): void {
    const before = performance.now() - idleMs
    for (const [id, { log, usedAt }] of this.#logs) {
      if (usedAt < before && log.isIdle) this.#logs.delete(id)
    }
  }
}
