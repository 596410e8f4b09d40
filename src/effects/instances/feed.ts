// Instances in the change feed: their state as `GET /services/{id}/status` shows it, after each event.
import pLimit from 'p-limit'
import type { Storage } from '../../../storage/index.ts'
import type { InstanceState, Instances } from '../../docker/containers/instances.ts'
import { codeOf, messageOf } from '../../errors.ts'
import type { Logger } from '../../logger.ts'

interface Parts {
  instances: Instances
  logger: Logger
  storage: Pick<Storage, 'commit'>
}

export class InstanceFeed {
  readonly #parts: Parts
  /** The instances that were announced, by name, except removed ones. */
  readonly #known = new Map<string, { serviceId: string; mark: string }>()
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

  /** Announces what has changed without an event: a restarted engine forgets its events. */
  async refresh(): Promise<void> {
    const found = await this.#parts.instances.list({})
    const due = new Map<string, string>()
    for (const [name, { serviceId }] of this.#known) due.set(name, serviceId)
    for (const state of found) {
      if (this.#known.get(state.name)?.mark === markOf(state)) due.delete(state.name)
      else due.set(state.name, state.serviceId)
    }
    if (due.size > 0) await this.#announce(due)
  }

  close(): void {
    this.#isClosed = true
    this.#turns.clearQueue()
  }

  #announce(services: ReadonlyMap<string, string>): Promise<void> {
    const { instances, storage } = this.#parts
    return this.#turns(async () => {
      const names = [...services.keys()]
      const states = await Promise.all(names.map((name) => instances.inspect(name)))
      await storage.commit((commit) => {
        for (const [index, [name, service_id]] of [...services].entries()) {
          const status = states[index]?.state ?? 'removed'
          commit.announce({ kind: 'instance', id: name, service_id, status, revision: null })
        }
      })
      for (const [index, [name, serviceId]] of [...services].entries()) {
        const state = states[index]
        if (state) this.#known.set(name, { serviceId, mark: markOf(state) })
        else this.#known.delete(name)
      }
    })
  }
}

/** Changes with every change of the instance. */
function markOf({ containerId, state, startedAt, finishedAt }: InstanceState): string {
  return [containerId, state, startedAt, finishedAt].join(' ')
}
