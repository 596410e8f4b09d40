/** Work that runs in rounds, never two at a time. Calls during a round share the next one. */
export class SharedRounds {
  readonly #work: () => Promise<void>
  #running: Promise<void> = Promise.resolve()
  #next: Promise<void> | null = null

  constructor(work: () => Promise<void>) {
    this.#work = work
  }

  /** Settles like a round that starts after the call. */
  run(): Promise<void> {
    this.#next ??= this.#running.then(() => {
      this.#next = null
      const round = this.#work()
      this.#running = round.catch(() => undefined)
      return round
    })
    return this.#next
  }

  /** Resolves when the current round has ended. */
  settled(): Promise<void> {
    return this.#running
  }
}
