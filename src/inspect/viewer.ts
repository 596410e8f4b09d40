// One viewer: it gets every running actor first, then what happens. Actors never wait for it.
import type { WebSocket } from 'ws'
import type { Inspected, RunningView } from '../supervisor/inspection.ts'
import { actorMessage, effectMessage, eventMessages, type Message } from './messages.ts'

/** A viewer that leaves more unread is dropped. */
const pendingLimitBytes = 1024 * 1024

export class Viewer {
  readonly #socket: WebSocket
  readonly #definitionOf: (kind: string) => string
  readonly #actors = new Set<string>()
  readonly #kinds = new Set<string>()

  constructor(socket: WebSocket, definitionOf: (kind: string) => string) {
    this.#socket = socket
    this.#definitionOf = definitionOf
  }

  /** One actor at a time, so that a long list does not count as unread. */
  async list(running: AsyncIterable<RunningView>): Promise<void> {
    for await (const actor of running) {
      if (this.#socket.readyState !== this.#socket.OPEN) return
      if (this.#actors.has(actor.id)) continue
      const at = new Date().toISOString()
      const effects = actor.effects.map((name) => ({ name, outcome: 'started' as const, code: null }))
      const written = [
        this.#announce(actor, at),
        ...effects.map((effect) => this.#send(effectMessage(actor.id, effect, at))),
      ]
      await Promise.all(written)
    }
  }

  /** What concerns an actor that is not listed yet is in the list, unless it is new. */
  show(seen: Inspected): void {
    const { id, at } = seen
    if (!this.#actors.has(id)) {
      if (seen.type !== 'transition') return
      void this.#announce(seen, at)
    }
    const messages = seen.type === 'effect' ? [effectMessage(id, seen.effect, at)] : eventMessages(seen)
    for (const message of messages) void this.#send(message)
    if (seen.type === 'transition' && seen.isFinal) this.#actors.delete(id)
  }

  #announce(actor: Pick<RunningView, 'id' | 'kind' | 'value'>, at: string): Promise<void> {
    const definition = this.#kinds.has(actor.kind) ? undefined : this.#definitionOf(actor.kind)
    this.#actors.add(actor.id)
    this.#kinds.add(actor.kind)
    return this.#send(actorMessage(actor, at, definition))
  }

  /** Resolves when it is written, or the connection has ended. */
  #send(message: Message): Promise<void> {
    if (this.#socket.bufferedAmount > pendingLimitBytes) this.#socket.terminate()
    return new Promise((resolve) => this.#socket.send(JSON.stringify(message), () => resolve()))
  }
}
