// The audit log: who changed what, from where, and how it ended. No request removes or changes an entry; only
// its outcome is added. The key of an entry has all that filters ask for, so they decode no other rows.
import { userInfo } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { createIds, type Ids, idAt } from './store/ids.ts'
import { type Page, paginate } from './store/paginate.ts'
import type { Store, Table } from './store/store.ts'

/** `visitor`: a client without a credential. `host`: a command on the server itself. */
export type AuditActorKind = 'session' | 'token' | 'terminal' | 'visitor' | 'host' | 'server'

export interface AuditEntry {
  id: string
  at: string
  actor: { kind: AuditActorKind; id: string | null; name: string | null }
  action: string
  subject: { kind: string; id: string | null; name: string | null }
  /** The service or datastore that it belongs to, with the name at that time. */
  service_id: string | null
  service_name: string | null
  address: string | null
  user_agent: string | null
  request_id: string | null
  /** Names of what was sent, never values. */
  changed: string[]
  /** The id of what it made. */
  created: string | null
  /** Null while it runs. It stays null if the server ended before the request did. */
  finished_at: string | null
  status: number | null
  code: string | null
  /** Of a command in a container. */
  exit_code: number | null
  /** More than 1: alike requests within a minute. */
  count: number
}

type Key = [
  id: string,
  actorKind: AuditActorKind,
  actorId: string,
  actorName: string,
  action: string,
  subjectKind: string,
  subjectId: string,
  subjectName: string,
  serviceId: string,
  serviceName: string,
]

type Row = Omit<AuditEntry, 'id' | 'actor' | 'action' | 'subject' | 'service_id' | 'service_name'>

export interface HostCommand extends Pick<AuditEntry, 'action' | 'subject'> {
  changed?: string[]
}

/** What an entry does not say. */
const nothing: Omit<AuditEntry, 'id' | 'at' | 'actor' | 'action' | 'subject'> = {
  service_id: null,
  service_name: null,
  address: null,
  user_agent: null,
  request_id: null,
  changed: [],
  created: null,
  finished_at: null,
  status: null,
  code: null,
  exit_code: null,
  count: 1,
}

interface AuditRequest {
  limit: number
  /** Only entries with a lower id. */
  before?: string | undefined
  sinceMs?: number | undefined
  untilMs?: number | undefined
  /** A kind, an id or a name. */
  actor?: string | undefined
  /** A part of it. */
  action?: string | undefined
  /** An id or a name, also of its service or datastore. */
  subject?: string | undefined
}

const dayMs = 24 * 60 * 60 * 1000
/** A transaction blocks everything else while it runs. */
const maxRemovedPerCommit = 1000
/** Keys are cheap to read. */
const maxScanned = 10_000
/** LMDB has a limit for keys, and callers choose names. */
const longestPart = 100

export class Audit {
  readonly #store: Store
  readonly #rows: Table<Row>
  readonly #maxAgeMs: number
  readonly #ids: Ids

  constructor(store: Store, days = 365) {
    this.#store = store
    this.#rows = store.table('audit')
    this.#maxAgeMs = days * dayMs
    const [newest] = this.#rows.keys({ reverse: true, limit: 1 }) as Iterable<Key>
    this.#ids = createIds(Date.now, newest?.[0])
  }

  newEntry() {
    return { ...nothing, id: this.#ids.newId('aud'), at: new Date().toISOString() }
  }

  /** Only inside a commit. `former` is the entry that this one completes. */
  put(entry: AuditEntry, former?: AuditEntry): void {
    const { id: _, actor: __, action: ___, subject: ____, service_id, service_name, ...row } = entry
    if (former) this.#rows.remove(keyOf(former))
    this.#rows.put(keyOf(entry), row)
  }

  write(entry: AuditEntry, former?: AuditEntry): Promise<void> {
    return this.#store.commit(() => this.put(entry, former))
  }

  /** A command on the server itself, in the commit of what it does. */
  putHostCommand({ action, subject, changed = [] }: HostCommand): void {
    const entry = this.newEntry()
    const actor = { kind: 'host', id: null, name: hostUser() } as const
    this.put({ ...entry, finished_at: entry.at, actor, action, subject, changed })
  }

  /** Newest first. */
  page(request: AuditRequest): Page<AuditEntry, string> {
    const { before, sinceMs, untilMs, limit } = request
    const bounds = [before, untilMs === undefined ? undefined : idAt('aud', untilMs)]
    const start = bounds.filter((bound) => bound !== undefined).sort()[0]
    const keys = this.#rows.keys({
      reverse: true,
      ...(start === undefined ? {} : { start: [start] }),
      ...(sinceMs === undefined ? {} : { end: [idAt('aud', sinceMs)] }),
    }) as Iterable<Key>
    const read = (key: Key) => {
      const row = matches(key, request) ? this.#rows.getOrNull(key) : null
      return row && toEntry(key, row)
    }
    const { records, next } = paginate(keys, read, { limit, maxScanned })
    return { records, next: next?.[0] ?? null }
  }

  /**
   * Removes entries that are too old, or too many. An actor has a quarter of the log before entries of others
   * go, so that none can push out what others did.
   */
  async trim(nowMs = Date.now(), maxEntries = 200_000): Promise<void> {
    await this.#removeUntil(idAt('aud', nowMs - this.#maxAgeMs))
    const beyond = () => {
      const [key] = this.#rows.keys({ reverse: true, offset: maxEntries, limit: 1 }) as Iterable<Key>
      return key?.[0]
    }
    if (beyond() === undefined) return
    await this.#removeExcess(maxEntries / 4)
    const oldest = beyond()
    if (oldest !== undefined) await this.#removeUntil(oldest)
  }

  async #removeUntil(id: string): Promise<void> {
    for (;;) {
      // A longer key sorts after a shorter one: an entry with this id goes too.
      const expired = [...this.#rows.keys({ end: [`${id}~`], limit: maxRemovedPerCommit })]
      if (expired.length === 0) return
      await this.#remove(expired as Key[])
    }
  }

  /** The oldest entries of each actor that has more than its share. */
  async #removeExcess(share: number): Promise<void> {
    const excess = new Map<string, number>()
    for await (const keys of this.#oldestFirst())
      for (const key of keys) excess.set(actorIn(key), (excess.get(actorIn(key)) ?? -share) + 1)
    for await (const keys of this.#oldestFirst()) {
      const removed = keys.filter((key) => {
        const left = excess.get(actorIn(key)) ?? 0
        excess.set(actorIn(key), left - 1)
        return left > 0
      })
      if (removed.length > 0) await this.#remove(removed)
    }
  }

  async *#oldestFirst(): AsyncGenerator<Key[]> {
    let start = ''
    for (;;) {
      const keys = [...this.#rows.keys({ start: [start], limit: maxRemovedPerCommit })] as Key[]
      if (keys.length === 0) return
      yield keys
      start = `${keys.at(-1)![0]}~`
      await setImmediate()
    }
  }

  #remove(keys: Key[]): Promise<void> {
    return this.#store.commit(() => keys.forEach((key) => void this.#rows.remove(key)))
  }
}

function actorIn([, kind, id]: Key): string {
  return `${kind} ${id}`
}

/** Who runs a command on this host, also with sudo. A user id may have no name. */
function hostUser(): string {
  try {
    return process.env.SUDO_USER || userInfo().username
  } catch {
    return String(process.getuid?.())
  }
}

function keyOf({ id, actor, action, subject, service_id, service_name }: AuditEntry): Key {
  const parts = [
    actor.id,
    actor.name,
    action,
    subject.kind,
    subject.id,
    subject.name,
    service_id,
    service_name,
  ]
  return [id, actor.kind, ...parts.map((part) => (part ?? '').slice(0, longestPart))] as Key
}

function toEntry(key: Key, row: Row): AuditEntry {
  const [id, kind, actorId, actorName, action, subjectKind, subjectId, subjectName, serviceId, serviceName] =
    key
  return {
    id,
    actor: { kind, id: actorId || null, name: actorName || null },
    action,
    subject: { kind: subjectKind, id: subjectId || null, name: subjectName || null },
    service_id: serviceId || null,
    service_name: serviceName || null,
    ...row,
  }
}

function matches(key: Key, { actor, action, subject }: AuditRequest): boolean {
  return (
    (actor === undefined || key.slice(1, 4).includes(actor)) &&
    (action === undefined || key[4].includes(action)) &&
    (subject === undefined || key.slice(6).includes(subject))
  )
}
