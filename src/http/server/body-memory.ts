// The memory of bodies that requests hold. One client gets a part of it, so that it takes none from others.
// When it is full, small bodies still get in: there are no more of them than connections.
import { RetryLater } from '../../errors.ts'
import { size } from '../../quantities.ts'
import type { BodyHold } from './body.ts'

interface Limits {
  /** Of all clients together. */
  totalBytes: number
  clientBytes: number
}

const smallBodyBytes = 64 * 1024
const retrySeconds = 2

export class BodyMemory {
  readonly #limits: Limits
  readonly #byClient = new Map<string, number>()
  #totalBytes = 0

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /** The part of one request. */
  open(client: string): BodyHold {
    const { totalBytes, clientBytes } = this.#limits
    let heldBytes = 0
    return {
      grow: (bytes) => {
        heldBytes += bytes
        if (this.#add(client, bytes) > clientBytes) throw tooMuch('this client', clientBytes)
        if (heldBytes > smallBodyBytes && this.#totalBytes > totalBytes)
          throw tooMuch('all clients', totalBytes)
      },
      release: () => {
        this.#add(client, -heldBytes)
        heldBytes = 0
      },
    }
  }

  #add(client: string, bytes: number): number {
    this.#totalBytes += bytes
    const held = (this.#byClient.get(client) ?? 0) + bytes
    if (held === 0) this.#byClient.delete(client)
    else this.#byClient.set(client, held)
    return held
  }
}

function tooMuch(who: string, limitBytes: number): RetryLater {
  const message = `${who} may send at most ${size(limitBytes)} of bodies at a time`
  return new RetryLater('slow_down', message, retrySeconds)
}
