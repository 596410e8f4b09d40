// Which actors there are, and which of them are not final: all in the key, where no damaged value can hide
// it.
// What changes the index works inside a commit only, the one of the row itself.
import type { Key } from 'lmdb'
import type { Store, Table } from '../store/store.ts'
import type { ActiveActor, ActorRow, ParkNote } from './actor-row.ts'

const all = Number.MAX_SAFE_INTEGER

export class ActorIndex {
  /** `[kind, service, id]` of what a restart reads. */
  readonly #active: Table<1>
  /** `[kind, service, id]` of every actor: ids sort by age, so that lists need no clock. */
  readonly #lists: Table<1>
  /** `[kind, service, id]` of what waits for an operator, with the reason. */
  readonly #parked: Table<ParkNote>

  constructor(store: Store) {
    this.#active = store.table('active')
    this.#lists = store.table('actor_lists')
    this.#parked = store.table('parked')
  }

  /** Every actor that is not final; of all kinds, or of one, or of one and a service. */
  active(kind?: string, serviceId?: string): Iterable<ActiveActor> {
    return actorsIn(this.#active, kind, serviceId)
  }

  /** Likewise those that are parked. */
  parked(kind?: string, serviceId?: string): Iterable<ActiveActor> {
    return actorsIn(this.#parked, kind, serviceId)
  }

  /** Null where it is damaged. */
  parkNote(actor: ActiveActor): ParkNote | null {
    return this.#parked.getOrNull(toKey(actor))
  }

  /** Every actor, final ones too. */
  allListed(): Iterable<ActiveActor> {
    return actorsIn(this.#lists)
  }

  /** The newest first. */
  ids(kind: string, serviceId: string, limit = all): string[] {
    const range = { start: [kind, serviceId, '\uffff'], end: [kind, serviceId, ''], reverse: true, limit }
    return [...this.#lists.keys(range)].map((key) => (key as string[])[2]!)
  }

  /**
   * Of several services as one list, the newest first, and older than `before`. Reads one key more of each
   * service than it gives.
   */
  *newest(kind: string, serviceIds: readonly string[], before = '\uffff'): Iterable<string> {
    const lists = serviceIds.map((serviceId) => this.#older(kind, serviceId, before))
    const heads = lists.map((list) => list.next())
    try {
      while (true) {
        let newest = -1
        let id = ''
        for (const [at, head] of heads.entries()) {
          if (head.done || head.value < id) continue
          newest = at
          id = head.value
        }
        if (newest < 0) return
        yield id
        heads[newest] = lists[newest]!.next()
      }
    } finally {
      for (const list of lists) list.return(undefined)
    }
  }

  *#older(kind: string, serviceId: string, before: string): Generator<string, undefined> {
    const range = { start: [kind, serviceId, before], end: [kind, serviceId, ''], reverse: true }
    for (const key of this.#lists.keys(range)) {
      const id = (key as string[])[2]!
      if (id !== before) yield id
    }
  }

  /** All but the newest so many, the newest first. Keys alone are passed over, and by the store itself. */
  older(kind: string, serviceId: string, kept: number): string[] {
    const range = {
      start: [kind, serviceId, '\uffff'],
      end: [kind, serviceId, ''],
      reverse: true,
      offset: kept,
    }
    return [...this.#lists.keys(range)].map((key) => (key as string[])[2]!)
  }

  /** Final ones too; with null of all owners. */
  *listed(kind: string, owner: string | null): Iterable<ActiveActor> {
    const range = { start: [kind, owner ?? '', ''], end: [kind, owner ?? '\uffff', '\uffff'] }
    for (const key of this.#lists.keys(range)) yield toActor(key)
  }

  add(row: ActorRow): void {
    this.#lists.put(toKey(row), 1)
  }

  /** After each change of the row. */
  update(row: ActorRow): void {
    if (row.final || row.parked) this.#active.remove(toKey(row))
    else this.#active.put(toKey(row), 1)
    if (row.final || !row.parked) this.#parked.remove(toKey(row))
  }

  /** It is not to be restored any more. */
  park(actor: ActiveActor, note: ParkNote): void {
    this.#active.remove(toKey(actor))
    this.#parked.put(toKey(actor), note)
  }

  remove(actor: ActiveActor): void {
    for (const table of [this.#active, this.#lists, this.#parked]) table.remove(toKey(actor))
  }

  /** False when a damaged key hides an actor that is not final. Reads keys only. */
  isConsistent(): boolean {
    return [...this.#active.keys(), ...this.#parked.keys()].every((key) => this.#lists.has(key))
  }

  /**
   * Rebuilds the index from the rows. A checksum protects values, and the index is in the keys: without this,
   * one flipped bit in a key would hide an intact actor. `isKnown` is true for ids of damaged rows too.
   */
  rebuild(rows: ActorRow[], isKnown: (id: string) => boolean): void {
    const right = new Map(rows.map((row) => [row.id, toKey(row).join()]))
    const isStray = (key: string[]) => {
      const known = right.get(key[2]!)
      return known === undefined ? !isKnown(key[2]!) : known !== key.join()
    }
    for (const table of [this.#active, this.#lists, this.#parked]) {
      for (const key of [...table.keys()] as string[][]) if (isStray(key)) table.remove(key)
    }
    for (const row of rows) {
      this.add(row)
      this.update(row)
      const isLost = row.parked && !row.final && !this.#parked.has(toKey(row))
      if (isLost) this.park(row, { at: null, code: 'failed_repeatedly', reason: row.parked! })
    }
  }
}

function* actorsIn(table: Table<unknown>, kind?: string, serviceId?: string): Iterable<ActiveActor> {
  const start = [kind, serviceId].filter((part) => part !== undefined)
  const range = start.length > 0 ? { start: [...start, ''], end: [...start, '\uffff'] } : {}
  for (const key of table.keys(range)) yield toActor(key)
}

function toActor(key: Key): ActiveActor {
  const [kind, service, id] = key as [string, string, string]
  return { id, kind, service_id: service || null }
}

function toKey({ kind, service_id, id }: ActiveActor): string[] {
  return [kind, service_id ?? '', id]
}
