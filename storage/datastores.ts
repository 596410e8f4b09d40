// What is kept of datastores beside their actors: whose a name is, the password, and the port of the host.
// The password is sealed. It may not reach a log, an event or an actor; effects read it by the id.

import type { Sealer } from './secrets.ts'
import { StorageError } from './store/errors.ts'
import type { Names } from './store/names.ts'
import type { Store, Table } from './store/store.ts'

interface DatastoreRow {
  id: string
  name: string
  /** On the host; null until the container is made. */
  port: number | null
  /** What its volume is named after; without it the name. It never changes. */
  volume?: string
  /** It is in the trash: another one may take its name and its port. */
  trashed?: true
  /** Whether every service may connect to it; missing from rows that are older than the setting. */
  shared_network?: boolean
}

export class Datastores {
  readonly #store: Store
  readonly #sealer: Sealer
  readonly #names: Names
  readonly #rows: Table<DatastoreRow>
  readonly #passwords: Table<string>
  /** Port -> whose it is. */
  readonly #ports: Table<string>

  constructor(store: Store, sealer: Sealer, names: Names) {
    this.#store = store
    this.#sealer = sealer
    this.#names = names
    this.#rows = store.table('datastores')
    this.#passwords = store.table('datastore_passwords')
    this.#ports = store.table('datastore_ports')
    names.addFallback((name) => {
      const row = this.list().find((datastore) => datastore.name === name)
      return row ? { kind: 'datastore', id: row.id } : null
    })
  }

  /** Only inside a commit: a new one, with its name. Throws `name_taken`. */
  insert(id: string, name: string, password: string, isShared = false): void {
    this.#names.claim(name, { kind: 'datastore', id })
    // The volume of an earlier datastore of that name may be in the trash.
    const volume = this.hasVolume(name) ? { volume: id } : {}
    this.#rows.put(id, { id, name, port: null, shared_network: isShared, ...volume })
    this.#passwords.put(id, this.#sealer.seal(password, rowOf(id)))
  }

  /** An exact id wins over a name; null when there is none. */
  idOf(idOrName: string): string | null {
    if (this.#rows.has(idOrName)) return this.#rows.getOrNull(idOrName)?.trashed ? null : idOrName
    const holder = this.#names.holderOf(idOrName)
    return holder?.kind === 'datastore' ? holder.id : null
  }

  /** Whether nobody has that name. */
  isFree(name: string): boolean {
    return this.#names.holderOf(name) === null
  }

  /** By name, without those in the trash. */
  list(): DatastoreRow[] {
    return this.listAll().filter(({ trashed }) => !trashed)
  }

  /** By name. */
  listAll(): DatastoreRow[] {
    const rows = [...this.#rows.validRows()].map(({ value }) => value)
    return rows.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Whether the volume of a datastore is named after this. */
  hasVolume(volume: string): boolean {
    return this.listAll().some((row) => (row.volume ?? row.name) === volume)
  }

  isTrashed(id: string): boolean {
    return this.#rows.get(id)?.trashed ?? false
  }

  /** What its volume is named after; null for a removed datastore. */
  volume(id: string): string | null {
    const row = this.#rows.get(id)
    return row && (row.volume ?? row.name)
  }

  has(id: string): boolean {
    return this.#rows.has(id)
  }

  /** Whether every service may connect to it. One from before this setting counts as shared. */
  isShared(id: string): boolean {
    return this.#rows.get(id)?.shared_network ?? true
  }

  /** A missing one is fine. */
  share(id: string, isShared: boolean): Promise<void> {
    return this.#store.commit(() => {
      const row = this.#rows.get(id)
      if (row) this.#rows.put(id, { ...row, shared_network: isShared })
    })
  }

  /** Throws `not_found` for one that is gone. */
  password(id: string): string {
    const sealed = this.#passwords.get(id)
    if (sealed === null) throw new StorageError('not_found', `there is no datastore ${id}`)
    return this.#sealer.open(sealed, rowOf(id))
  }

  port(id: string): number | null {
    return this.#rows.get(id)?.port ?? null
  }

  /**
   * Gives it the first of these ports that no other datastore has, in place of the one it had. Resolves with
   * null when there is none. Throws `not_found`.
   */
  movePort(id: string, candidates: readonly number[]): Promise<number | null> {
    return this.#store.commit(() => {
      const row = this.#rows.get(id)
      if (!row) throw new StorageError('not_found', `there is no datastore ${id}`)
      const port = candidates.find((candidate) => !this.#ports.has(candidate)) ?? null
      if (port === null) return null
      if (row.port !== null) this.#ports.remove(row.port)
      this.#ports.put(port, id)
      this.#rows.put(id, { ...row, port })
      return port
    })
  }

  /** Frees its name and port; its password stays. No effect when it is in the trash already. */
  trash(id: string): Promise<void> {
    return this.#store.commit(() => this.trashWithin(id))
  }

  /** Only inside a commit: like `trash`. */
  trashWithin(id: string): void {
    const row = this.#rows.getOrNull(id)
    if (!row || row.trashed) return
    this.#free(row)
    this.#rows.put(id, { ...row, trashed: true })
  }

  /**
   * Takes it out of the trash under a name, with its former port if that is free. No effect when it is out.
   * Throws `name_taken` and `not_found`.
   */
  restoreFromTrash(id: string, name: string): Promise<void> {
    return this.#store.commit(() => {
      const row = this.#rows.get(id)
      if (!row) throw new StorageError('not_found', `there is no datastore ${id}`)
      if (!row.trashed) return
      this.#names.claim(name, { kind: 'datastore', id })
      const port = row.port !== null && !this.#ports.has(row.port) ? row.port : null
      if (port !== null) this.#ports.put(port, id)
      const { trashed, ...kept } = row
      this.#rows.put(id, { ...kept, name, port, volume: row.volume ?? row.name })
    })
  }

  /** Frees its name and port, and forgets its password. Gone already is fine. */
  remove(id: string): Promise<void> {
    return this.#store.commit(() => {
      const row = this.#rows.get(id)
      if (!row) return
      if (!row.trashed) this.#free(row)
      this.#passwords.remove(id)
      this.#rows.remove(id)
    })
  }

  #free({ name, port }: DatastoreRow): void {
    if (port !== null) this.#ports.remove(port)
    this.#names.release(name)
  }
}

function rowOf(id: string): string {
  return `datastore:${id}`
}
