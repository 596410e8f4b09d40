// Instances in the change feed: their state as `GET /services/{id}/status` shows it, after each event.
import pLimit from 'p-limit'
import type { Storage } from '../../../storage/index.ts'
import type { Instances } from '../../docker/containers/instances.ts'
import { codeOf, messageOf } from '../../errors.ts'
import type { Logger } from '../../logger.ts'

interface Parts {
  instances: Instances
  logger: Logger
  storage: Pick<Storage, 'commit'>
}

export class InstanceFeed {
  readonly #parts: Parts
  /** The services of the instances that were announced, by name, except removed ones. */
  readonly #known = new Map<string, string>()
  /** A state that was read earlier is never announced later. */
  readonly #turns = pLimit(1)
  #isClosed = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  touch(name: string, serviceId: string): void {
    this.#announce(new Map([[name, serviceId]])).catch((error: unknown) => {
      // The refresh after the engine's return announces what is missing.
      if (this.#isClosed || codeOf(error) === 'docker_unavailable') return
      this.#parts.logger.warn({ instance: name, reason: messageOf(error) }, 'a change is not in the feed')
    })
  }

  /** Announces all instances, because a restarted engine forgets its events. */
  async refresh(): Promise<void> {
    const found = await this.#parts.instances.list({})
    const present = found.map(({ name, serviceId }) => [name, serviceId] as const)
    await this.#announce(new Map([...this.#known, ...present]))
  }

  close(): void {
    this.#isClosed = true
    this.#turns.clearQueue()
  }

  #announce(services: ReadonlyMap<string, string>): Promise<void> {
    const { instances, storage } = this.#parts
    return this.#turns(async () => {
      const inspected = [...services].map(async ([name, service_id]) => {
        const status = (await instances.inspect(name))?.state ?? 'removed'
        return { kind: 'instance', id: name, service_id, status, revision: null }
      })
      const changes = await Promise.all(inspected)
      await storage.commit((commit) => changes.forEach((change) => void commit.announce(change)))
      for (const { id, service_id, status } of changes) {
        if (status === 'removed') this.#known.delete(id)
        else this.#known.set(id, service_id)
      }
    })
  }
}
