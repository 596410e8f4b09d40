// The upstreams of each service: a pool, with a slot per current or former instance. They are stored, so that
// the edge serves the same upstreams after a crash.
// A slot is freed only when none of its connections can be open.
import type { ServiceProtocol } from './services.ts'
import type { Store, Table } from './store/store.ts'

/** verifying: gets only verification requests; ready: gets requests; out: finishes open requests. */
export type UpstreamState = 'verifying' | 'ready' | 'out'

export interface UpstreamRow {
  slot: number
  deploy_id: string
  index: number
  address: string
  port: number
  /** Missing in rows older than the setting: `http`. */
  protocol?: ServiceProtocol
  state: UpstreamState
  /** The run (start time) of the instance that passed its verification. */
  run: string | null
}

export class Upstreams {
  readonly #store: Store
  /** Service -> pool number, from 1. */
  readonly #pools: Table<number>
  /** Pool number -> service. */
  readonly #holders: Table<string>
  /** `[service, slot]`, from 1. */
  readonly #rows: Table<UpstreamRow>

  constructor(store: Store) {
    this.#store = store
    this.#pools = store.table('pools')
    this.#holders = store.table('pool_holders')
    this.#rows = store.table('upstreams')
  }

  poolOf(serviceId: string): number | null {
    return this.#pools.getOrNull(serviceId)
  }

  /** The pool of the service. Allocates the lowest free number if it has none. */
  allocatePool(serviceId: string): Promise<number> {
    return this.#store.commit(() => {
      const existing = this.#pools.getOrNull(serviceId)
      if (existing !== null) return existing
      const number = this.#lowestFree()
      this.#pools.put(serviceId, number)
      this.#holders.put(number, serviceId)
      return number
    })
  }

  async release(serviceId: string): Promise<void> {
    if (this.poolOf(serviceId) === null && this.list(serviceId).length === 0) return
    await this.#store.commit(() => {
      const number = this.#pools.getOrNull(serviceId)
      this.#pools.remove(serviceId)
      if (number !== null) this.#holders.remove(number)
      for (const { slot } of this.list(serviceId)) this.#rows.remove([serviceId, slot])
    })
  }

  list(serviceId: string): UpstreamRow[] {
    const range = { start: [serviceId, 0], end: [serviceId, Number.MAX_SAFE_INTEGER] }
    return [...this.#rows.validRows(range)].map(({ value }) => value)
  }

  /** Puts an instance in its slot, or in the lowest free one. Writes only if something changes. */
  async put(serviceId: string, wanted: Omit<UpstreamRow, 'slot'>): Promise<UpstreamRow> {
    const isSame = (row: UpstreamRow) =>
      Object.entries(wanted).every(([field, value]) => row[field as keyof UpstreamRow] === value)
    const record = this.list(serviceId).find(isSame)
    if (record) return record
    return this.#store.commit(() => {
      const rows = this.list(serviceId)
      const same = rows.find((row) => row.deploy_id === wanted.deploy_id && row.index === wanted.index)
      const row = { ...wanted, slot: same?.slot ?? firstGap(rows.map(({ slot }) => slot)) }
      this.#rows.put([serviceId, row.slot], row)
      return row
    })
  }

  /** Returns whether anything changed. */
  async setState(
    serviceId: string,
    matches: (row: UpstreamRow) => boolean,
    state: UpstreamState,
  ): Promise<boolean> {
    const differs = (row: UpstreamRow) => matches(row) && row.state !== state
    if (!this.list(serviceId).some(differs)) return false
    await this.#store.commit(() => {
      for (const row of this.list(serviceId).filter(differs)) {
        this.#rows.put([serviceId, row.slot], { ...row, state })
      }
    })
    return true
  }

  /** Frees the matching slots. Returns whether there were any. */
  async remove(serviceId: string, matches: (row: UpstreamRow) => boolean): Promise<boolean> {
    if (!this.list(serviceId).some(matches)) return false
    await this.#store.commit(() => {
      for (const { slot } of this.list(serviceId).filter(matches)) this.#rows.remove([serviceId, slot])
    })
    return true
  }

  #lowestFree(): number {
    return firstGap([...this.#holders.keys()] as number[])
  }
}

/** The least number from 1 that is not in a sorted list. */
function firstGap(used: readonly number[]): number {
  const gap = used.findIndex((number, at) => number !== at + 1)
  return gap < 0 ? used.length + 1 : gap + 1
}
