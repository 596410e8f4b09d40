// Watches the free disk during large writes. One timer checks once a second for all operations, and only
// while there are some. Below the threshold the youngest operation that writes there is canceled, and the
// next one only when its end has not helped for a few seconds; below half of the threshold all of them are.
import { stat, statfs } from 'node:fs/promises'
import { withLinkedSignal } from '../../async/linked-signal.ts'
import { sleep } from '../../async/sleep.ts'
import { Failure } from '../../errors.ts'

export interface WriteOperation {
  /** The operation as named in messages: `a build`. */
  what: string
  directories: string[]
}

interface Operation extends WriteOperation {
  /** Null after it was canceled; the operation is then still cleaning up. */
  cancel: ((reason: Failure) => void) | null
}

interface Space {
  id: string
  directory: string
  freeMb: number
}

const checkIntervalMs = 1000
/** The actor of a canceled operation removes its files shortly after it ended. */
const recoveryMs = 5000
const mebibyte = 1024 * 1024

export class DiskWatch {
  readonly #minFreeMb: number
  /** In order of their start. */
  readonly #operations = new Set<Operation>()
  /** The earliest time to cancel another operation, by file system. */
  readonly #nextCancelAt = new Map<string, number>()
  #isChecking = false

  constructor(minFreeMb: number) {
    this.#minFreeMb = minFreeMb
  }

  /** Ends the work with `insufficient_storage`. A directory that is not on this host is not watched. */
  async guard<T>(
    { what, directories }: WriteOperation,
    outer: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (this.#minFreeMb === 0) return work(outer)
    const watch = (end: (reason: unknown) => void) => {
      const operation: Operation = { what, directories, cancel: end }
      this.#operations.add(operation)
      void this.#checkWhileActive()
      return () => void this.#operations.delete(operation)
    }
    return withLinkedSignal(outer, watch, work)
  }

  /** The next check starts after the last one has ended: a file system may be slow. */
  async #checkWhileActive(): Promise<void> {
    if (this.#isChecking) return
    this.#isChecking = true
    while (this.#operations.size > 0) {
      await sleep(checkIntervalMs, undefined, { ref: false })
      await this.#check()
    }
    this.#isChecking = false
  }

  async #check(): Promise<void> {
    const operations = [...this.#operations]
    const directories = new Set(operations.flatMap((operation) => operation.directories))
    const found = await Promise.all([...directories].map(readSpace))
    const spaces = found.filter((space) => space !== null && space.freeMb < this.#minFreeMb) as Space[]
    for (const id of new Set(spaces.map((space) => space.id))) {
      const full = spaces.filter((space) => space.id === id)
      this.#cancelSome(
        operations.flatMap((operation) => {
          const space = full.find(({ directory }) => operation.directories.includes(directory))
          return space ? [{ operation, space }] : []
        }),
      )
    }
  }

  #cancelSome(writers: { operation: Operation; space: Space }[]): void {
    const { id, freeMb } = writers[0]!.space
    const isUrgent = freeMb < this.#minFreeMb / 2
    const isEnding = writers.some(({ operation }) => operation.cancel === null)
    if (!isUrgent && (isEnding || performance.now() < (this.#nextCancelAt.get(id) ?? 0))) return
    const running = writers.filter(({ operation }) => operation.cancel !== null)
    for (const { operation, space } of isUrgent ? running : running.slice(-1)) {
      operation.cancel?.(diskFullFailure(operation, space, this.#minFreeMb))
      operation.cancel = null
      this.#nextCancelAt.set(id, performance.now() + recoveryMs)
    }
  }
}

function diskFullFailure(
  { what }: WriteOperation,
  { directory, freeMb }: Space,
  minFreeDiskMb: number,
): Failure {
  return new Failure(
    'insufficient_storage',
    `canceled: ${directory} has ${freeMb} MiB free, ${what} needs ${minFreeDiskMb} MiB (--min-free-disk)`,
  )
}

async function readSpace(directory: string): Promise<Space | null> {
  try {
    const [{ bavail, bsize }, { dev }] = await Promise.all([statfs(directory), stat(directory)])
    return { id: String(dev), directory, freeMb: Math.floor((bavail * bsize) / mebibyte) }
  } catch {
    return null
  }
}
