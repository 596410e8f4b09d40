// Processes that run tasks for the daemon, each one task at a time. They start when there is work, and end
// some time after it.
import { type ChildProcess, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { Failure, RetryLater } from '../errors.ts'
import { dropOomProtection } from '../process-groups.ts'
import { duration } from '../quantities.ts'

export interface ReadersOptions {
  /** The file of the program. It receives an `Order`, and sends `Report`s. */
  program: string
  maxReaders: number
  /** CPU time, because other programs share the machine. */
  maxTaskSeconds: number
  maxHeapMib: number
}

export interface ReadOptions {
  /** Who wrote the text. An owner's texts are read one after the other, so that others get their turn. */
  owner: string
  signal?: AbortSignal | undefined
}

export interface Order {
  name: string
  input: unknown
}

/** First that the task is loaded, then its outcome. */
export type Report =
  | { is: 'loaded' }
  | { is: 'done'; value: unknown }
  | { is: 'failed'; failure: Pick<Failure, 'code' | 'message' | 'hint' | 'details' | 'facts'> }
  | { is: 'broken'; message: string }

interface Job {
  owner: string
  order: Order
  /** Settles the promise of its caller. */
  end(outcome: Outcome): void
}

type Outcome = { value: unknown } | { error: unknown }

interface Reader {
  child: ChildProcess
  job: Job | null
  timer: NodeJS.Timeout | undefined
  /** CPU time of the process when its task began. */
  startSeconds: number
}

const maxWaiting = 256
const checkMs = 250
/** Also for a disk that does not answer. */
const maxWallMs = 120_000
const idleMs = 30_000
/** CPU time after which a reader is replaced. */
const maxReaderSeconds = 20
/** The kernel ends a reader then, also if its daemon was killed. */
const hardLimitSeconds = 60

export class Readers {
  readonly #options: ReadersOptions
  readonly #readers = new Set<Reader>()
  /** By owner; the first one is next. */
  readonly #waiting = new Map<string, Job[]>()

  constructor(options: ReadersOptions) {
    this.#options = options
  }

  /** Throws what the task throws, `too_complex`, `slow_down`, and the reason of the signal. */
  run(name: string, input: unknown, { owner, signal }: ReadOptions): Promise<unknown> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      const jobs = this.#waiting.get(owner) ?? []
      if (jobs.length === maxWaiting)
        throw new RetryLater('slow_down', 'too many requests of this client are waiting', 1)
      const cancel = () => this.#cancel(job, signal!.reason)
      const end = (outcome: Outcome) => {
        signal?.removeEventListener('abort', cancel)
        if ('error' in outcome) reject(outcome.error)
        else resolve(outcome.value)
      }
      const job = { owner, order: { name, input }, end }
      signal?.addEventListener('abort', cancel, { once: true })
      this.#waiting.set(owner, [...jobs, job])
      this.#assign()
    })
  }

  /** Gives waiting jobs to readers that are free. */
  #assign(): void {
    const busy = new Set([...this.#readers].flatMap(({ job }) => job?.owner ?? []))
    for (const [owner, [job, ...rest]] of this.#waiting) {
      if (busy.has(owner)) continue
      const free = [...this.#readers].find((one) => one.job === null && one.child.connected)
      if (!free && this.#readers.size >= this.#options.maxReaders) return
      this.#keep(owner, rest)
      busy.add(owner)
      try {
        this.#begin(free ?? this.#start(), job!)
      } catch (error) {
        // The system has no more memory, processes or files.
        job!.end({ error })
      }
    }
  }

  #begin(reader: Reader, job: Job): void {
    clearTimeout(reader.timer)
    reader.job = job
    const late = tooComplex(`more than ${duration(maxWallMs)}`)
    reader.timer = setTimeout(() => this.#giveUp(reader, late), maxWallMs)
    reader.child.ref()
    reader.child.channel?.ref()
    // Without a process, its error event follows.
    if (reader.child.connected) reader.child.send(job.order)
  }

  #receive(reader: Reader, report: Report): void {
    const { job } = reader
    if (job === null) return
    if (report.is === 'loaded') void this.#limit(reader, job)
    else this.#finish(reader, outcomeOf(report))
  }

  #finish(reader: Reader, outcome: Outcome): void {
    const { job, child, startSeconds } = reader
    clearTimeout(reader.timer)
    reader.job = null
    // A reader without work does not keep the daemon, or a test, from ending.
    child.unref()
    child.channel?.unref()
    if (startSeconds > maxReaderSeconds) this.#stop(reader)
    else reader.timer = setTimeout(() => this.#stop(reader), idleMs).unref()
    if (job) this.#moveBehindOthers(job.owner)
    job?.end(outcome)
    this.#assign()
  }

  #cancel(job: Job, reason: unknown): void {
    const reader = [...this.#readers].find((one) => one.job === job)
    if (reader) this.#giveUp(reader, reason)
    else this.#withdraw(job, reason)
  }

  #withdraw(job: Job, reason: unknown): void {
    const jobs = this.#waiting.get(job.owner) ?? []
    this.#keep(
      job.owner,
      jobs.filter((one) => one !== job),
    )
    job.end({ error: reason })
  }

  #keep(owner: string, jobs: Job[]): void {
    if (jobs.length > 0) this.#waiting.set(owner, jobs)
    else this.#waiting.delete(owner)
  }

  #moveBehindOthers(owner: string): void {
    const jobs = this.#waiting.get(owner) ?? []
    this.#waiting.delete(owner)
    this.#keep(owner, jobs)
  }

  /** Ends a reader, and with it its task. */
  #giveUp(reader: Reader, error: unknown): void {
    const { job } = reader
    reader.job = null
    this.#stop(reader)
    job?.end({ error })
    // Where no process can start, all jobs would fail in one turn.
    setImmediate(() => this.#assign())
  }

  #stop(reader: Reader): void {
    clearTimeout(reader.timer)
    this.#readers.delete(reader)
    reader.child.kill('SIGKILL')
  }

  #start(): Reader {
    const { program, maxHeapMib } = this.#options
    const node = [process.execPath, ...process.execArgv, `--max-old-space-size=${maxHeapMib}`, program]
    const child = spawn('prlimit', [`--cpu=${hardLimitSeconds}`, '--core=0', ...node], {
      // The variables of the daemon may have secrets.
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      serialization: 'advanced',
    })
    const reader: Reader = { child, job: null, timer: undefined, startSeconds: 0 }
    this.#readers.add(reader)
    child.on('message', (report: Report) => this.#receive(reader, report))
    child.on('error', (error) => this.#giveUp(reader, error))
    child.on('exit', (code, signal) => this.#giveUp(reader, reasonOf(code, signal)))
    if (child.pid === undefined) return reader
    dropOomProtection(child)
    return reader
  }

  async #limit(reader: Reader, job: Job): Promise<void> {
    const { maxTaskSeconds } = this.#options
    reader.startSeconds = await cpuSecondsOf(reader.child)
    while (reader.job === job) {
      await delay(checkMs, undefined, { ref: false })
      const seconds = (await cpuSecondsOf(reader.child)) - reader.startSeconds
      if (reader.job === job && seconds >= maxTaskSeconds)
        this.#giveUp(reader, tooComplex(`more than ${maxTaskSeconds} s`))
    }
  }
}

function outcomeOf(report: Exclude<Report, { is: 'loaded' }>): Outcome {
  if (report.is === 'done') return { value: report.value }
  if (report.is === 'broken') return { error: new Error(report.message) }
  const { code, message, hint, details, facts } = report.failure
  const failure = new Failure(code, message, hint, details)
  return { error: facts ? failure.with(facts) : failure }
}

const ticksPerSecond = 100

async function cpuSecondsOf({ pid }: ChildProcess): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const [userTicks, systemTicks] = text.slice(text.lastIndexOf(')')).split(' ').slice(12, 14)
  return (Number(userTicks ?? 0) + Number(systemTicks ?? 0)) / ticksPerSecond
}

/** V8 aborts when its heap is full; the kernel kills when the memory of the host is. */
function reasonOf(code: number | null, signal: NodeJS.Signals | null): Error {
  if (signal === 'SIGABRT' || signal === 'SIGKILL') return tooComplex('too much memory')
  return new Error(`a reader ended with ${signal ?? code}`)
}

function tooComplex(what: string): Failure {
  return new Failure('too_complex', `reading it takes ${what}`)
}
