// Fixed addresses of instances in the private network, chosen by Berth and stored. Docker's own
// choice may change at a restart and then belong to another container. Addresses are numbers here,
// dotted text outside.
import { StorageError } from './store/errors.ts'
import type { Store, Table } from './store/store.ts'

interface Holder {
  deploy_id: string
  index: number
}

export interface HeldAddress extends Holder {
  address: string
}

export interface AddressRange {
  /** First and last address that may be given out, dotted. */
  first: string
  last: string
}

export class Addresses {
  readonly #store: Store
  /** Address -> instance. */
  readonly #holders: Table<Holder>
  /** `[deploy, index]` -> address. */
  readonly #held: Table<number>
  readonly #lastAllocated: Table<number>

  constructor(store: Store) {
    this.#store = store
    this.#holders = store.table('addresses')
    this.#held = store.table('deploy_addresses')
    this.#lastAllocated = store.table('last_address')
  }

  get(deployId: string, index: number): string | null {
    const address = this.#addressOf(deployId, index)
    return address === null ? null : toText(address)
  }

  /** The address of an instance. Allocates one if the instance has none in this range. Idempotent. */
  allocate(deployId: string, index: number, range: AddressRange): Promise<string> {
    return this.#store.commit(() => {
      const storedAddress = this.#addressOf(deployId, index)
      if (
        storedAddress !== null &&
        storedAddress >= toNumber(range.first) &&
        storedAddress <= toNumber(range.last)
      )
        return toText(storedAddress)
      if (storedAddress !== null) this.#holders.remove(storedAddress)
      const address = this.#nextFree(range)
      this.#holders.put(address, { deploy_id: deployId, index })
      this.#held.put([deployId, index], address)
      this.#lastAllocated.put('last', address)
      return toText(address)
    })
  }

  release(deployId: string, fromIndex = 0): Promise<void> {
    return this.#store.commit(() => {
      const range = { start: [deployId, fromIndex], end: [deployId, Number.MAX_SAFE_INTEGER] }
      for (const key of [...this.#held.keys(range)] as [string, number][]) {
        const address = this.#addressOf(...key)
        this.#held.remove(key)
        if (address !== null) this.#holders.remove(address)
      }
    })
  }

  list(): HeldAddress[] {
    return [...this.#holders.validRows()].map(({ key, value }) => ({
      ...value,
      address: toText(key as number),
    }))
  }

  deployIds(): string[] {
    return [...new Set([...this.#held.keys()].map((key) => (key as [string, number])[0]))]
  }

  /** Both tables have the address: if one row is damaged, the other is used. */
  #addressOf(deployId: string, index: number): number | null {
    if (!this.#held.has([deployId, index])) return null
    const existing = this.#held.getOrNull([deployId, index])
    if (existing !== null) return existing
    const isHolder = ({ value }: { value: Holder }) => value.deploy_id === deployId && value.index === index
    return ([...this.#holders.validRows()].find(isHolder)?.key as number | undefined) ?? null
  }

  /** The next free one, not the lowest: a stale connection must not reach a new instance. */
  #nextFree(range: AddressRange): number {
    const [first, last] = [toNumber(range.first), toNumber(range.last)]
    const start = Math.max(first, (this.#lastAllocated.getOrNull('last') ?? 0) + 1)
    const freeAddress = this.#firstGap(start, last) ?? this.#firstGap(first, Math.min(start, last))
    if (freeAddress === null)
      throw new StorageError('no_address_left', 'every address of the private network is in use')
    return freeAddress
  }

  #firstGap(from: number, to: number): number | null {
    let candidate = from
    for (const key of this.#holders.keys({ start: from, end: to + 1 })) {
      if ((key as number) > candidate) break
      candidate = (key as number) + 1
    }
    return candidate <= to ? candidate : null
  }
}

function toNumber(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
}

function toText(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.')
}
