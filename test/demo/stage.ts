// State shared by the parts of the demo: output, the interrupt signal, and what was created so far.
import type { TestDaemon } from '../support/daemon/daemon.ts'
import { phaseLine } from './lines.ts'
import type { Terminal } from './terminal.ts'
import { toProblem } from './trouble.ts'

export interface Stage {
  terminal: Terminal
  /** Aborted by Ctrl-C. */
  signal: AbortSignal
  made: Made
}

/** Everything created so far, which is removed at the end. */
export interface Made {
  /** The folder with all files. */
  folder: string | null
  daemon: Promise<TestDaemon> | null
  /** The daemon's process id, once it is up. */
  pid: number | null
}

export interface Step<T> {
  name: string
  work: () => Promise<T>
  /** The detail of its line when it is done. */
  detail: (result: T) => string
  /** On failure: what failed, and what to do next. */
  trouble: { what: string; next: string }
  /** Disables the animation, because others write to the terminal. */
  isTalkative?: boolean
}

/** Runs a step and shows it as one line with its duration. Throws `Trouble`, or the signal's reason. */
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
    throw toProblem(error, step.trouble.what, step.trouble.next)
  }
}

/** Rejects at once on an interrupt; the work may continue in the background. */
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
