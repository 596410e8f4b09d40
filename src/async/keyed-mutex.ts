import pLimit, { type LimitFunction } from 'p-limit'
import { inTurn } from './in-turn.ts'

/** Runs work with the same key one after the other, in the order of the calls. Other keys do not wait. */
export class KeyedMutex {
  readonly #users = new Map<string, { turns: LimitFunction; count: number }>()

  /** Rejects when aborted while waiting. */
  async run<T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const users = this.#users.get(key) ?? { turns: pLimit(1), count: 0 }
    this.#users.set(key, users)
    users.count++
    try {
      return await inTurn(users.turns, signal, work)
    } finally {
      if (--users.count === 0) this.#users.delete(key)
    }
  }
}
