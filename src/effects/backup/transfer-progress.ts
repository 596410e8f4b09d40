// How far running backups and restores are in their current phase.

export interface Progress {
  doneBytes: number
  totalBytes: number | null
}

export class TransferProgress {
  readonly #progress = new Map<string, Progress>()

  report(id: string, progress: Progress): void {
    this.#progress.set(id, progress)
  }

  clear(id: string): void {
    this.#progress.delete(id)
  }

  /** null when the phase of the actor transfers nothing. */
  of(id: string): Progress | null {
    return this.#progress.get(id) ?? null
  }
}
