// Which actors there are, as keys: nothing is decoded to list them.

import type { Key } from 'lmdb'
import type { Store, Table } from '../store/store.ts'
import type { ActiveActor, ActorRow, ParkNote } from './actor-row.ts'

/** In the order of lists. */
const actorGroups = ['parked', 'active', 'ended'] as const
type ActorGroup = (typeof actorGroups)[number]

export interface ListedActor extends ActiveActor {
  group: ActorGroup
}

interface Filter {
  /** Undefined for all kinds. */
  kind?: string | undefined
  /** Undefined for all owners. */
  owner?: string | undefined
}

export interface ActorFilter extends Filter {
  groups: readonly ActorGroup[]
}

/** Where a page of a list ended. */
export type Place = Pick<ListedActor, 'group' | 'kind' | 'id'>

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

  active(kind?: string, serviceId?: string): Iterable<ActiveActor> {
    return actorsIn(this.#active, kind, serviceId)
  }

  parked(kind?: string, serviceId?: string): Iterable<ActiveActor> {
    return actorsIn(this.#parked, kind, serviceId)
  }

  groupOf(actor: ActiveActor): ActorGroup {
    const key = toKey(actor)
    return this.#parked.has(key) ? 'parked' : this.#active.has(key) ? 'active' : 'ended'
  }

  /** Why and when the actor was parked; null for a damaged note. */
  parkNote(actor: ActiveActor): ParkNote | null {
    return this.#parked.getOrNull(toKey(actor))
  }

  /** Newest first, without the newest `offset`. LMDB itself skips their keys. */
  ids(kind: string, serviceId: string, limit = noLimit, offset = 0): string[] {
    const range = { start: [kind, serviceId, '\uffff'], end: [kind, serviceId, ''], reverse: true }
    return [...this.#lists.keys({ ...range, limit, offset })].map((key) => (key as string[])[2]!)
  }

  /** Parked actors, then active and ended ones; each by kind, newest first. */
  *all({ groups, ...filter }: ActorFilter, after?: Place): Iterable<ListedActor> {
    for (const group of groups) {
      if (after && actorGroups.indexOf(group) < actorGroups.indexOf(after.group)) continue
      const place = group === after?.group ? after : undefined
      const found = group === 'ended' ? this.#ended(filter, place) : this.#unfinished(group, filter, place)
      for (const actor of found) yield { ...actor, group }
    }
  }

  #unfinished(group: 'parked' | 'active', { kind, owner }: Filter, after?: Place): Iterable<ActiveActor> {
    const isLater = (actor: ActiveActor) => !after || byKindNewestFirst(after, actor) < 0
    return [...(group === 'parked' ? this.parked(kind) : this.active(kind))]
      .filter((actor) => (owner === undefined || actor.service_id === owner) && isLater(actor))
      .sort(byKindNewestFirst)
  }

  *#ended({ kind, owner }: Filter, after?: Place): Iterable<ActiveActor> {
    for (const each of kind === undefined ? this.#partsAfter() : [kind]) {
      if (after && each < after.kind) continue
      const before = after?.kind === each ? after.id : undefined
      for (const actor of this.newest(each, owner === undefined ? undefined : [owner], before)) {
        if (this.groupOf(actor) === 'ended') yield actor
      }
    }
  }

  /** The kinds, or the owners of a kind. One read for each. */
  #partsAfter(...prefix: string[]): string[] {
    const parts: string[] = []
    for (let start = [...prefix, '']; ; start = [...prefix, parts.at(-1)!, '\uffff']) {
      const [next] = this.#lists.keys({ start, end: [...prefix, '\uffff'], limit: 1 })
      if (next === undefined) return parts
      parts.push((next as string[])[prefix.length]!)
    }
  }

  /** Merged, newest first, older than `before`. Reads one key per owner more than it yields. */
  *newest(kind: string, owners: readonly string[] = this.#partsAfter(kind), before = '\uffff') {
    const lists = owners.map((owner) => this.#older(kind, owner, before))
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
        yield { id, kind, service_id: owners[newest] || null }
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

function byKindNewestFirst(a: Pick<ActiveActor, 'kind' | 'id'>, b: Pick<ActiveActor, 'kind' | 'id'>): number {
  if (a.kind !== b.kind) return a.kind < b.kind ? -1 : 1
  return a.id > b.id ? -1 : a.id < b.id ? 1 : 0
}
