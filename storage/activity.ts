// The newest transitions of all actors, under the numbers of their changes in the feed. They outlive actors.
import type { ActorTransition } from './actors/history-entry.ts'
import { type Page, paginate } from './store/paginate.ts'
import type { Store, Table } from './store/store.ts'

export interface ActivityEntry extends ActorTransition {
  number: number
  service_id: string | null
  /** The name of the service or datastore at that time. */
  service_name: string | null
}

type Owner = Pick<ActivityEntry, 'kind' | 'service_id'>

type Row = Omit<ActivityEntry, 'number' | keyof Owner>

/** A last name that is still right is not read again. */
type NameOf = (id: string, last?: string) => string | null

type Key = [number: number, kind: string, service: string]

interface ActivityRequest {
  limit: number
  /** Only entries with a lower number. */
  before?: number | undefined
  accepts: (entry: Owner) => boolean
}

const maxEntries = 50_000
const maxAgeMs = 90 * 24 * 60 * 60 * 1000
/** Only their failures are of interest. */
const mostlyQuietKinds = ['commit-status', 'notification']
/** Anyone can request a terminal login: strangers could otherwise push out everything else. */
const undecidedStates = ['pending', 'expired']
/** A transaction blocks everything else while it runs. */
const maxRemovedPerCommit = 1000
/** Keys are cheap to read. */
const maxScanned = 10_000
const maxNames = 1000

export class Activity {
  readonly #store: Store
  readonly #nameOf: NameOf
  /** By `[number, kind, service]`, so that filters decode no other rows. */
  readonly #rows: Table<Row>
  /** The last transition of a removal comes when the service, and so its name, is gone. */
  readonly #lastNames = new Map<string, string>()

  constructor(store: Store, nameOf: NameOf) {
    this.#store = store
    this.#nameOf = nameOf
    this.#rows = store.table('activity')
  }

  /** Only inside a commit. */
  keep(number: number, service_id: string | null, { kind, ...moved }: ActorTransition): void {
    if (mostlyQuietKinds.includes(kind) && moved.state !== 'failed') return
    if (kind === 'terminal-login' && undecidedStates.includes(moved.state)) return
    const service_name = service_id === null ? null : this.#knownName(service_id)
    this.#rows.put([number, kind, service_id ?? ''], { ...moved, service_name })
  }

  /** Newest first. */
  page({ limit, before, accepts }: ActivityRequest): Page<ActivityEntry, number> {
    const range = { reverse: true, ...(before === undefined ? {} : { start: [before] }) }
    const keys = this.#rows.keys(range) as Iterable<Key>
    const read = (key: Key) => {
      const [number, kind, service] = key
      const owner = { kind, service_id: service || null }
      const row = accepts(owner) ? this.#rows.getOrNull(key) : null
      return row && { number, ...owner, ...row }
    }
    const { records, next } = paginate(keys, read, { limit, maxScanned })
    return { records, next: next?.[0] ?? null }
  }

  /** The entries after a number that `accepts` selects, oldest first; and the last number that was read. */
  after(
    number: number,
    { limit, accepts }: Pick<ActivityRequest, 'limit' | 'accepts'>,
  ): { entries: ActivityEntry[]; last: number } {
    const entries: ActivityEntry[] = []
    let last = number
    for (const key of this.#rows.keys({ start: [number + 1], limit: maxScanned }) as Iterable<Key>) {
      const [at, kind, service] = key
      const owner = { kind, service_id: service || null }
      const row = accepts(owner) ? this.#rows.getOrNull(key) : null
      if (row) entries.push({ number: at, ...owner, ...row })
      last = at
      if (entries.length === limit) break
    }
    return { entries, last }
  }

  /** Removes entries that are too many or too old. */
  async trim(nowMs = Date.now()): Promise<void> {
    const oldest = new Date(nowMs - maxAgeMs).toISOString()
    const [beyond] = this.#rows.keys({ reverse: true, offset: maxEntries, limit: 1 }) as Iterable<Key>
    const isExpired = (key: Key) =>
      key[0] <= (beyond?.[0] ?? 0) || (this.#rows.getOrNull(key)?.at ?? '') < oldest
    for (;;) {
      const first = [...(this.#rows.keys({ limit: maxRemovedPerCommit }) as Iterable<Key>)]
      const end = first.findIndex((key) => !isExpired(key))
      const expired = end < 0 ? first : first.slice(0, end)
      if (expired.length === 0) return
      await this.#store.commit(() => expired.forEach((key) => void this.#rows.remove(key)))
    }
  }

  #knownName(id: string): string | null {
    const name = this.#nameOf(id, this.#lastNames.get(id))
    if (name !== null) this.#lastNames.set(id, name)
    const [oldest] = this.#lastNames.keys()
    if (this.#lastNames.size > maxNames) this.#lastNames.delete(oldest!)
    return name
  }
}
