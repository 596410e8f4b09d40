// One run of `berth`: all that it has from its process. A test makes its own, and needs no process.
import type { Readable, Writable } from 'node:stream'

export interface Invocation {
  readonly args: string[]
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
  readonly stdin: Input
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  /** Ctrl-C. */
  readonly signal: AbortSignal
}

export interface Input extends Readable {
  /** Undefined if it is not a file, a pipe or a terminal of this process. */
  fd?: number
  isTTY?: boolean
  setRawMode?(isRaw: boolean): unknown
}

export interface OutputStream extends Writable {
  isTTY?: boolean
  columns?: number
  rows?: number
}
