// Instances in the change feed: their state as `GET /services/{id}/status` shows it, after each event.
// Each instance has at most one change a second, and the last state is always announced.
import type { Storage } from '../../../storage/index.ts'
import type { InstanceState, Instances } from '../../docker/containers/instances.ts'
import { codeOf, messageOf } from '../../errors.ts'
import type { Logger } from '../../logger.ts'

interface Parts {
  instances: Instances
  logger: Logger
  storage: Pick<Storage, 'commit'>
}

interface Seen {
  serviceId: string
  /** Changes with every change of the instance. */
  mark: string
  announcedAt: number
}

const pauseMs = 1000
const retryMs = 5000

export class InstanceFeed {
  readonly #parts: Parts
  readonly #seen = new Map<string, Seen>()
  /** Name to service. */
  readonly #due = new Map<string, string>()
  #timer: NodeJS.Timeout | undefined
  #isFlushing = false
  #isClosed = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  touch(name: string, serviceId: string): void {
    this.#due.set(name, serviceId)
    void this.#flush()
  }

  /** Announces all differences from the last seen states, because a restarted engine forgets its events. */
  async refresh(): Promise<void> {
    const found = await this.#parts.instances.list({})
    const names = new Set(found.map(({ name }) => name))
    for (const [name, { serviceId }] of this.#seen) if (!names.has(name)) this.#due.set(name, serviceId)
    for (const state of found) {
      if (this.#seen.get(state.name)?.mark !== markOf(state)) this.#due.set(state.name, state.serviceId)
    }
    await this.#flush()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  async #flush(): Promise<void> {
    if (this.#isFlushing || this.#isClosed) return
    this.#isFlushing = true
    try {
      for (let ready = this.#ready(); ready.length > 0 && !this.#isClosed; ready = this.#ready()) {
        await this.#announce(ready)
      }
      if (this.#due.size > 0) this.#flushLater(pauseMs)
    } catch (error) {
      // The next inspection after the engine's return finds what is missing.
      if (!this.#isClosed && codeOf(error) !== 'docker_unavailable') {
        this.#parts.logger.warn({ reason: messageOf(error) }, 'changes of instances are delayed')
      }
      this.#flushLater(retryMs)
    } finally {
      this.#isFlushing = false
    }
  }

  #flushLater(delayMs: number): void {
    clearTimeout(this.#timer)
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#flush(), delayMs).unref()
  }

  /** The due instances whose last announcement is long enough ago. */
  #ready(): [name: string, serviceId: string][] {
    const before = performance.now() - pauseMs
    return [...this.#due].filter(([name]) => (this.#seen.get(name)?.announcedAt ?? before) <= before)
  }

  async #announce(ready: [name: string, serviceId: string][]): Promise<void> {
    const { instances, storage } = this.#parts
    for (const [name] of ready) this.#due.delete(name)
    try {
      const states = await Promise.all(ready.map(([name]) => instances.inspect(name)))
      await storage.commit((commit) => {
        for (const [index, [name, service_id]] of ready.entries()) {
          const status = states[index]?.state ?? 'removed'
          commit.announce({ kind: 'instance', id: name, service_id, status, revision: null })
        }
      })
      const announcedAt = performance.now()
      for (const [index, [name, serviceId]] of ready.entries()) {
        const state = states[index]
        if (state) this.#seen.set(name, { serviceId, mark: markOf(state), announcedAt })
        else this.#seen.delete(name)
      }
    } catch (error) {
      for (const [name, serviceId] of ready) this.#due.set(name, serviceId)
      throw error
    }
  }
}

function markOf({ containerId, state, startedAt, finishedAt }: InstanceState): string {
  return `${containerId} ${state} ${startedAt} ${finishedAt}`
}
