// The logs of a directory, by id: append-only, numbered from 1, numbers are never reused. Appending never
// waits and never throws for the disk; callers with much output await `flush` regularly. A crash of the
// process loses no line that was shown. A power cut may, except in logs that have ended.
import * as fs from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { StorageError } from '../store/errors.ts'
import { Log, type LogContext, type LogLimits } from './log.ts'
import { type Batch, type LogAbout, type LogLine, type LogStream, splitLine } from './log-line.ts'

export { type Batch, type LogAbout, type LogLine, type LogStream, lastNumberOf } from './log-line.ts'

export interface LogOptions extends Partial<LogLimits> {
  /** How long an unused log stays in memory. */
  idleMs?: number
  /** Called for a failed write. The lines stay in memory, and the write is retried. */
  onError?: (error: unknown) => void
}

const mebibyte = 1024 * 1024
const expireEveryMs = 60 * 60 * 1000
const defaults: LogLimits & { idleMs: number } = {
  headBytes: 32 * mebibyte,
  tailBytes: 32 * mebibyte,
  segmentBytes: 2 * mebibyte,
  pendingBytes: 64 * mebibyte,
  flushMs: 50,
  retryMs: 1000,
  idleMs: 60_000,
}
const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

/** Opens or creates a directory of logs. Calls with an invalid id throw `invalid_log_id`. */
export function openLogs(directory: string, options: LogOptions = {}): Logs {
  fs.mkdirSync(directory, { recursive: true, mode: 0o700 })
  const limits = { ...defaults, ...options }
  const report = options.onError ?? (() => undefined)
  return new Logs(directory, { limits, pendingBytes: 0, report }, limits.idleMs)
}

export class Logs {
  readonly #directory: string
  readonly #context: LogContext
  readonly #logs = new Map<string, { log: Log; usedAt: number }>()
  readonly #timers: NodeJS.Timeout[]
  #isClosed = false

  constructor(directory: string, context: LogContext, idleMs: number) {
    this.#directory = directory
    this.#context = context
    this.#timers = [setInterval(() => this.#forgetIdle(idleMs), idleMs / 4).unref()]
    if (context.limits.maxAgeMs === undefined) return
    this.#timers.push(setInterval(() => void this.expire().catch(context.report), expireEveryMs).unref())
  }

  /** Shown within 50 ms. Lines over 16 KiB are split, lines after the end are dropped. */
  append(id: string, stream: LogStream, line: string, ts?: string, about?: LogAbout): void {
    if (this.#isClosed) return
    const log = this.#openToAppend(id)
    const rest = { ts: ts ?? new Date().toISOString(), stream, ...(about && { about }) }
    for (const piece of splitLine(line)) log?.append({ ...rest, line: piece })
  }

  /** Resolves when all lines and the end mark are on disk, or their write has failed. Idempotent. */
  async end(id: string): Promise<void> {
    return this.#open(id).end()
  }

  isEnded(id: string): boolean {
    return this.#open(id).isEnded
  }

  /** The number of the newest readable line, 0 for none. */
  head(id: string): number {
    return this.#open(id).head
  }

  /** The lowest number that a readable line can have. */
  first(id: string): number {
    return this.#open(id).first
  }

  /**
   * Lines after `number`, or null if there are none yet. The newest lines come as the same Batch for every
   * follower, older ones as up to 500 lines from the file. Where lines were dropped, the last missing number
   * is a system line with the count of missing lines.
   */
  batchAfter(id: string, number: number): Promise<Batch | null> | Batch | null {
    return this.#isClosed ? null : this.#open(id).batchAfter(number)
  }

  async tail(id: string, lines: number): Promise<LogLine[]> {
    return this.#isClosed ? [] : this.#open(id).tail(lines)
  }

  /** Calls back after new lines, the end, and removal (also an end). Returns the unsubscribe function. */
  watch(id: string, onChange: () => void): () => void {
    return this.#open(id).watch(onChange)
  }

  /** Resolves when every line appended so far, to this log or to all, is written or its write has failed. */
  async flush(id?: string): Promise<void> {
    if (id !== undefined) return this.#open(id).flush()
    await Promise.all([...this.#logs.values()].map(({ log }) => log.flush()))
  }

  /** Bytes of a log that are not on disk yet. Callers with much output use it for backpressure. */
  waitingBytes(id: string): number {
    return this.#open(id).waitingBytes
  }

  /** Stores a short text next to a log, replacing the previous one. */
  async writeNote(id: string, text: string): Promise<void> {
    if (!this.#isClosed) return this.#open(id).writeNote(text)
  }

  async readNote(id: string): Promise<string | null> {
    return this.#open(id).readNote()
  }

  /** Drops lines that are too old, from unused logs too. Also runs every hour. */
  async expire(): Promise<void> {
    for (const id of await this.ids()) {
      if (this.#isClosed) return
      await this.#open(id).expire()
    }
  }

  /** Of the files of one log; 0 without any. */
  async sizeOf(id: string): Promise<number> {
    const directory = join(this.#directory, id)
    const names = await readdir(directory).catch(() => [])
    const sizes = names.map((name) =>
      stat(join(directory, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    )
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  }

  async remove(id: string): Promise<void> {
    return this.#open(id).remove()
  }

  async ids(): Promise<string[]> {
    await this.flush()
    const names = await readdir(this.#directory)
    return names.filter((name) => idPattern.test(name)).sort()
  }

  /** Writes pending lines. Followers are not notified, because their logs have not ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const timer of this.#timers) clearInterval(timer)
    await Promise.all([...this.#logs.values()].map(({ log }) => log.close()))
  }

  #open(id: string): Log {
    const usedAt = performance.now()
    const openLog = this.#logs.get(id)
    if (openLog !== undefined) {
      openLog.usedAt = usedAt
      return openLog.log
    }
    if (!idPattern.test(id)) throw new StorageError('invalid_log_id', `'${id}' is not a valid log id`)
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
