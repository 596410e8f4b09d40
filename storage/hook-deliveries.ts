// What git providers sent to the hooks of this server, and what each service made of it. The newest of each
// service are kept.
import type { Services } from './services.ts'
import type { Store, Table } from './store/store.ts'

export interface HookDelivery {
  id: string
  provider: 'github' | 'gitlab' | 'gitea'
  /** The connection whose secret signed it, or should have; null if it can be one of several. */
  connection_id: string | null
  /** That of the provider, the same for a repetition; null without one. */
  delivery_id: string | null
  event: string
  repository: string | null
  ref: string | null
  before: string | null
  after: string | null
  /** Whether the push took commits back; null if the provider does not say. Missing in older rows. */
  forced?: boolean | null
  received_at: string
  /** Why no service looks at its source; null if some do. */
  refusal: string | null
  /** By the ids of services; null until it is decided. */
  decisions: Record<string, HookDecision | null>
}

export interface HookDecision {
  at: string
  deploy_id: string | null
  reason: string
}

const keptPerService = 100
/** Of those that concern no service. */
const keptOthers = 200
/** Stands for the services of deliveries without one; sorts apart from their ids. */
const none = '-'
/** The same for those without a valid signature. Strangers can send them: they replace only each other. */
const unsigned = '!'
const keptUnsigned = 20
/** No more of them than one in this time, in ms. */
const unsignedPauseMs = 1000

export class HookDeliveries {
  readonly #store: Store
  readonly #services: Services
  readonly #rows: Table<HookDelivery>
  readonly #byService: Table<1>
  /** Without a decision, by service. */
  readonly #open: Table<1>
  readonly #byDelivery: Table<string>

  constructor(store: Store, services: Services) {
    this.#store = store
    this.#services = services
    this.#rows = store.table('hook_deliveries')
    this.#byService = store.table('hook_deliveries_by_service')
    this.#open = store.table('hook_deliveries_open')
    this.#byDelivery = store.table('hook_deliveries_by_delivery')
  }

  /** Wakes the services. Returns the id of the delivery that this one repeats; null for a new one. */
  keep(delivery: HookDelivery): Promise<string | null> {
    return this.#store.commit((commit) => {
      const { id, decisions } = delivery
      const key = repetitionKeyOf(delivery)
      const former = key && this.#byDelivery.getOrNull(key)
      if (former) return former
      if (key) this.#byDelivery.put(key, id)
      this.#rows.put(id, delivery)
      const services = Object.keys(decisions)
      for (const service of services.length === 0 ? [none] : services) {
        this.#byService.put([service, id], 1)
        this.#forgetOldest(service, service === none ? keptOthers : keptPerService)
      }
      for (const service of services) {
        if (decisions[service] !== null) continue
        this.#open.put([service, id], 1)
        this.#services.touch(commit, service)
      }
      return null
    })
  }

  /** It wakes nothing, and a signed one with the same id is no repetition of it. */
  async keepUnsigned(delivery: HookDelivery): Promise<void> {
    const isTooEarly = () => {
      const [newest] = this.ofService(unsigned, 1)
      const pauseMs = newest ? Date.parse(delivery.received_at) - Date.parse(newest.received_at) : Infinity
      return Math.abs(pauseMs) < unsignedPauseMs
    }
    if (isTooEarly()) return
    await this.#store.commit(() => {
      if (isTooEarly()) return
      this.#rows.put(delivery.id, delivery)
      this.#byService.put([unsigned, delivery.id], 1)
      this.#forgetOldest(unsigned, keptUnsigned)
    })
  }

  get(id: string): HookDelivery | null {
    return this.#rows.getOrNull(id)
  }

  /** Newest first, before an id. */
  ofService(service: string, limit: number, before?: string): HookDelivery[] {
    const start = [service, before ?? '~']
    const keys = [...this.#byService.keys({ start, end: [service, ''], reverse: true, limit: limit + 1 })]
    const ids = (keys as string[][]).map(([, id]) => id!).filter((id) => id !== before)
    return ids.slice(0, limit).flatMap((id) => this.get(id) ?? [])
  }

  /** Those that concern no service, or have no valid signature; newest first. */
  ofConnection({ id, provider }: Pick<HookDelivery, 'id' | 'provider'>): HookDelivery[] {
    const others = [...this.ofService(none, keptOthers), ...this.ofService(unsigned, keptUnsigned)]
    return others
      .filter((one) => one.connection_id === id || (one.connection_id === null && one.provider === provider))
      .sort((one, other) => (one.id < other.id ? 1 : -1))
  }

  /** The ids of those without a decision. */
  openOf(service: string): string[] {
    const keys = this.#open.keys({ start: [service, ''], end: [service, '~'] })
    return ([...keys] as string[][]).map(([, id]) => id!)
  }

  settle(service: string, ids: string[], decision: HookDecision): Promise<void> {
    return this.#store.commit((commit) => {
      for (const id of ids) {
        this.#open.remove([service, id])
        const row = this.get(id)
        if (row) this.#rows.put(id, { ...row, decisions: { ...row.decisions, [service]: decision } })
      }
      this.#services.touch(commit, service)
    })
  }

  /** Only inside a commit. */
  removeOf(service: string): void {
    for (const key of [...this.#byService.keys({ start: [service, ''], end: [service, '~'] })] as string[][])
      this.#forget(service, key[1]!)
  }

  #forgetOldest(service: string, kept: number): void {
    const range = { start: [service, '~'], end: [service, ''], reverse: true, offset: kept, limit: 10 }
    for (const [, id] of [...this.#byService.keys(range)] as string[][]) this.#forget(service, id!)
  }

  #forget(service: string, id: string): void {
    this.#byService.remove([service, id])
    this.#open.remove([service, id])
    const row = this.get(id)
    if (!row) return
    const others = Object.keys(row.decisions).filter((other) => other !== service)
    if (others.some((other) => this.#byService.has([other, id]))) return
    this.#rows.remove(id)
    const key = repetitionKeyOf(row)
    if (key && this.#byDelivery.getOrNull(key) === id) this.#byDelivery.remove(key)
  }
}

/** Null for one that no other repeats. */
function repetitionKeyOf({ connection_id, delivery_id }: HookDelivery): string[] | null {
  return connection_id === null || delivery_id === null ? null : [connection_id, delivery_id]
}
