// Short work of many clients on the event loop. All ready sockets and pending immediates run in one turn of
// the loop, without timers in between: a thousand pieces of work of a millisecond would stop it for a second.

/** After it, timers and sockets get their turn. One piece of work may take longer. */
const sliceMs = 5

export class SharedTurns {
  /** The client that comes first is the one that has waited longest. */
  readonly #waiting = new Map<string, (() => void)[]>()

  /** Runs the work later. Clients take turns: one with much work delays its own. Settles like the work. */
  run<T>(client: string, work: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const piece = () => {
        try {
          resolve(work())
        } catch (error) {
          reject(error)
        }
      }
      if (this.#waiting.size === 0) setImmediate(() => this.#runSlice())
      const own = this.#waiting.get(client)
      if (own) own.push(piece)
      else this.#waiting.set(client, [piece])
    })
  }

  #runSlice(): void {
    const endsAt = performance.now() + sliceMs
    for (const [client, pieces] of this.#waiting) {
      pieces.shift()!()
      this.#waiting.delete(client)
      // At the end of the map, where this loop finds it again.
      if (pieces.length > 0) this.#waiting.set(client, pieces)
      if (performance.now() >= endsAt) break
    }
    if (this.#waiting.size > 0) setImmediate(() => this.#runSlice())
  }
}

/** Of the daemon: all work that others ask for shares the same turns. */
export const sharedTurns = new SharedTurns()
