// Data of datastores outside their actors: the name, the sealed password and the host port.
// The password must not reach a log, an event or an actor; effects read it by id.
import type { Sealer } from './secrets.ts'
import { StorageError } from './store/errors.ts'
import type { Names } from './store/names.ts'
import type { Store, Table } from './store/store.ts'

interface DatastoreRow {
  id: string
  name: string
  /** On the host; null until the container is created. */
  port: number | null
  /** The base of the volume's name; the datastore's name if missing. Only an upgrade changes it. */
  volume?: string
  /** The bases of the names of volumes that it had before upgrades. */
  former_volumes?: string[]
  /** In the trash: another datastore may use the name and the port. */
  trashed?: true
  /** Whether every service may connect to it. Missing in rows older than the setting. */
  shared_network?: boolean
}

export class Datastores {
  readonly #store: Store
  readonly #sealer: Sealer
  readonly #names: Names
  readonly #rows: Table<DatastoreRow>
  readonly #passwords: Table<string>
  /** Port -> datastore id. */
  readonly #ports: Table<string>

  constructor(store: Store, sealer: Sealer, names: Names) {
    this.#store = store
    this.#sealer = sealer
    this.#names = names
    this.#rows = store.table('datastores')
    this.#passwords = store.table('datastore_passwords')
    this.#ports = store.table('datastore_ports')
  }

  /** Only inside a commit. Claims the name. Throws `name_taken`. */
  insert(id: string, name: string, password: string, isShared = false): void {
    this.#names.claim(name, { kind: 'datastore', id })
    // The volume of an earlier datastore of that name may be in the trash.
    const volume = this.hasVolume(name) ? { volume: id } : {}
    this.#rows.put(id, { id, name, port: null, shared_network: isShared, ...volume })
    this.#passwords.put(id, this.#sealer.seal(password, rowOf(id)))
  }

  nameOf(id: string): string | null {
    return this.#rows.getOrNull(id)?.name ?? null
  }

  /** An exact id wins over a name. Null for an unknown datastore or one in the trash. */
  idOf(idOrName: string): string | null {
    if (this.#rows.has(idOrName)) return this.#rows.getOrNull(idOrName)?.trashed ? null : idOrName
    const holder = this.#names.holderOf(idOrName)
    return holder?.kind === 'datastore' ? holder.id : null
  }

  /** Whether no service and no datastore has this name. */
  isFree(name: string): boolean {
    return this.#names.holderOf(name) === null
  }

  /** Sorted by name, without datastores in the trash. */
  list(): DatastoreRow[] {
    return this.listAll().filter(({ trashed }) => !trashed)
  }

  /** Sorted by name, including datastores in the trash. */
  listAll(): DatastoreRow[] {
    const rows = [...this.#rows.validRows()].map(({ value }) => value)
    return rows.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Whether a datastore has, or had before an upgrade, a volume with this base name. */
  hasVolume(volume: string): boolean {
    return this.listAll().some((row) => volumesOf(row).includes(volume))
  }

  isTrashed(id: string): boolean {
    return this.#rows.get(id)?.trashed ?? false
  }

  /** The base of the volume's name; null for a removed datastore. */
  volume(id: string): string | null {
    const row = this.#rows.get(id)
    return row && (row.volume ?? row.name)
  }

  /** No effect on a missing datastore. */
  useVolume(id: string, volume: string): Promise<void> {
    return this.#store.commit(() => {
      const row = this.#rows.get(id)
      if (row) this.#rows.put(id, { ...row, volume, former_volumes: volumesOf(row) })
    })
  }

  has(id: string): boolean {
    return this.#rows.has(id)
  }

  /** Whether every service may connect to it. A datastore older than the setting is shared. */
  isShared(id: string): boolean {
    return this.#rows.get(id)?.shared_network ?? true
  }

  /** No effect on a missing datastore. */
  share(id: string, isShared: boolean): Promise<void> {
    return this.#store.commit(() => {
      const row = this.#rows.get(id)
      if (row) this.#rows.put(id, { ...row, shared_network: isShared })
    })
  }

  /** Throws `not_found` for a removed datastore. */
  password(id: string): string {
    const sealed = this.#passwords.get(id)
    if (sealed === null) throw new StorageError('not_found', `there is no datastore ${id}`)
    return this.#sealer.open(sealed, rowOf(id))
  }

  port(id: string): number | null {
    return this.#rows.get(id)?.port ?? null
  }

  /** Takes the first candidate that no other datastore has; null if all are in use. Throws `not_found`. */
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

  /** Frees the name and the port; the password stays. Idempotent. */
  trash(id: string): Promise<void> {
    return this.#store.commit(() => this.trashWithin(id))
  }

  /** Only inside a commit. Otherwise like `trash`. */
  trashWithin(id: string): void {
    const row = this.#rows.getOrNull(id)
    if (!row || row.trashed) return
    this.#releaseNameAndPort(row)
    this.#rows.put(id, { ...row, trashed: true })
  }

  /** Restores its former port if that is free. Idempotent. Throws `name_taken` and `not_found`. */
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

  /** Deletes the row and the password, and frees the name and the port. Idempotent. */
  remove(id: string): Promise<void> {
    return this.#store.commit(() => {
      const row = this.#rows.get(id)
      if (!row) return
      if (!row.trashed) this.#releaseNameAndPort(row)
      this.#passwords.remove(id)
      this.#rows.remove(id)
    })
  }

  #releaseNameAndPort({ name, port }: DatastoreRow): void {
    if (port !== null) this.#ports.remove(port)
    this.#names.release(name)
  }
}

function volumesOf({ volume, name, former_volumes = [] }: DatastoreRow): string[] {
  return [...new Set([...former_volumes, volume ?? name])]
}

function rowOf(id: string): string {
  return `datastore:${id}`
}
