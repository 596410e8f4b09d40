// The index of all, active and parked actors. Its data is in the keys, so a damaged value hides no actor.
// Writes work only inside a commit: the one that writes the row.
import type { Key } from 'lmdb'
import type { Store, Table } from '../store/store.ts'
import type { ActiveActor, ActorRow, ParkNote } from './actor-row.ts'

const noLimit = Number.MAX_SAFE_INTEGER

export class ActorIndex {
  /** `[kind, service, id]` of the actors that a restart restores. */
  readonly #active: Table<1>
  /** `[kind, service, id]` of every actor. Ids sort by age, so lists need no timestamp. */
  readonly #lists: Table<1>
  /** `[kind, service, id]` of every parked actor, with the reason. */
  readonly #parked: Table<ParkNote>

  constructor(store: Store) {
    this.#active = store.table('active')
    this.#lists = store.table('actor_lists')
    this.#parked = store.table('parked')
  }

  /** The actors that are neither final nor parked, optionally of one kind and one service. */
  active(kind?: string, serviceId?: string): Iterable<ActiveActor> {
    return actorsIn(this.#active, kind, serviceId)
  }

  /** The parked actors, filtered like `active`. */
  parked(kind?: string, serviceId?: string): Iterable<ActiveActor> {
    return actorsIn(this.#parked, kind, serviceId)
  }

  /** Why and when the actor was parked; null for a damaged note. */
  parkNote(actor: ActiveActor): ParkNote | null {
    return this.#parked.getOrNull(toKey(actor))
  }

  ids(kind: string, serviceId: string, limit = noLimit): string[] {
    const range = { start: [kind, serviceId, '\uffff'], end: [kind, serviceId, ''], reverse: true, limit }
    return [...this.#lists.keys(range)].map((key) => (key as string[])[2]!)
  }

  /**
   * The actors of several services older than `before`, merged into one list, newest first. Reads one key
   * per service more than it yields.
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

  /** All but the newest `retained` actors, newest first. LMDB itself skips the retained keys. */
  beyondNewest(kind: string, serviceId: string, retained: number): string[] {
    const range = {
      start: [kind, serviceId, '\uffff'],
      end: [kind, serviceId, ''],
      reverse: true,
      offset: retained,
    }
    return [...this.#lists.keys(range)].map((key) => (key as string[])[2]!)
  }

  /** Actors of one kind, including final ones. A null owner means all owners. */
  *listed(kind: string, owner: string | null): Iterable<ActiveActor> {
    const range = { start: [kind, owner ?? '', ''], end: [kind, owner ?? '\uffff', '\uffff'] }
    for (const key of this.#lists.keys(range)) yield toActor(key)
  }

  add(row: ActorRow): void {
    this.#lists.put(toKey(row), 1)
  }

  update(row: ActorRow): void {
    if (row.final || row.parked) this.#active.remove(toKey(row))
    else this.#active.put(toKey(row), 1)
    if (row.final || !row.parked) this.#parked.remove(toKey(row))
  }

  /** A parked actor is not restored. */
  park(actor: ActiveActor, note: ParkNote): void {
    this.#active.remove(toKey(actor))
    this.#parked.put(toKey(actor), note)
  }

  remove(actor: ActiveActor): void {
    for (const table of [this.#active, this.#lists, this.#parked]) table.remove(toKey(actor))
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
