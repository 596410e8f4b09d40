// What is kept of datastores beside their actors: whose a name is, the password, and the port of the host.
// Mind: the password is sealed. It may not reach a log, an event or an actor; effects read it by the id.
import { StorageError } from './errors.ts'
import type { Names } from './names.ts'
import type { Sealer } from './secrets.ts'
import type { Store, Table } from './store.ts'

interface DatastoreRow {
  id: string
  name: string
  /** On the host; null until the container is made. */
  port: number | null
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
    names.askWhenDamaged((name) => {
      const row = this.list().find((datastore) => datastore.name === name)
      return row ? { kind: 'datastore', id: row.id } : null
    })
  }

  /** Only inside a commit: a new one, with its name. Throws `name_taken`. */
  insert(id: string, name: string, password: string): void {
    this.#names.claim(name, { kind: 'datastore', id })
    this.#rows.put(id, { id, name, port: null })
    this.#passwords.put(id, this.#sealer.seal(password, rowOf(id)))
  }

  /** An exact id wins over a name; null when there is none. */
  idOf(idOrName: string): string | null {
    if (this.#rows.has(idOrName)) return idOrName
    const holder = this.#names.holderOf(idOrName)
    return holder?.kind === 'datastore' ? holder.id : null
  }

  /** Whether nobody has that name. */
  isFree(name: string): boolean {
    return this.#names.holderOf(name) === null
  }

  /** By name. */
  list(): DatastoreRow[] {
    const rows = [...this.#rows.sound()].map(({ value }) => value)
    return rows.sort((a, b) => (a.name < b.name ? -1 : 1))
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

  /** Frees its name and port, and forgets its password. Gone already is fine. */
  remove(id: string): Promise<void> {
    return this.#store.commit(() => {
      const row = this.#rows.get(id)
      if (!row) return
      if (row.port !== null) this.#ports.remove(row.port)
      this.#names.release(row.name)
      this.#passwords.remove(id)
      this.#rows.remove(id)
    })
  }
}

function rowOf(id: string): string {
  return `datastore:${id}`
}
