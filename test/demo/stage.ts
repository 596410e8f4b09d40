// What the parts of the demo share: where to write, whether to leave, and what has been made so far.
import type { TestDaemon } from '../support/daemon.ts'
import { phaseLine } from './lines.ts'
import type { Terminal } from './terminal.ts'
import { toTrouble } from './trouble.ts'

export interface Stage {
  terminal: Terminal
  /** Aborted by Ctrl-C. */
  signal: AbortSignal
  made: Made
}

/** All of it is removed in the end, however far it came. */
export interface Made {
  /** Everything on disk is in here. */
  folder: string | null
  daemon: Promise<TestDaemon> | null
  /** The daemon's, once it is up. */
  pid: number | null
}

export interface Step<T> {
  name: string
  work: () => Promise<T>
  /** What its line says when it is done. */
  detail: (result: T) => string
  /** When it fails: what was not possible, and what to do. */
  trouble: { what: string; next: string }
  /** Others write while it runs: no moving line. */
  isTalkative?: boolean
}

/** Does something and shows it as one line with its clock. Throws `Trouble`, or the signal's reason. */
export async function takeStep<T>({ terminal, signal }: Stage, step: Step<T>): Promise<T> {
  const beganAt = Date.now()
  const line = (mark: string, detail: string) =>
    phaseLine(terminal, { mark, name: step.name, detail, durationMs: Date.now() - beganAt })
  signal.throwIfAborted()
  if (!step.isTalkative) terminal.animate((spinner) => [line(spinner, '')])
  try {
    const result = await orLeave(step.work(), signal)
    terminal.rest()
    terminal.print(line('✔', step.detail(result)))
    return result
  } catch (error) {
    terminal.rest()
    signal.throwIfAborted()
    terminal.print(line('✘', ''))
    throw toTrouble(error, step.trouble.what, step.trouble.next)
  }
}

/** Rejects at once when it is time to leave; the work may go on in the background. */
export async function orLeave<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const arrived = new AbortController()
  const left = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { signal: arrived.signal })
  })
  try {
    return await Promise.race([work, left])
  } finally {
    arrived.abort()
  }
}
