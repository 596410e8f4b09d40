// The index of names: services and datastores share one namespace. An entry is written in the transaction of
// the service or datastore.
import { StorageError } from './errors.ts'
import type { Store, Table } from './store.ts'

export interface Name {
  kind: 'service' | 'datastore'
  id: string
}

export class Names {
  readonly #holders: Table<Name>

  constructor(store: Store) {
    this.#holders = store.table('names')
  }

  holderOf(name: string): Name | null {
    return this.#holders.get(name)
  }

  /** Only inside a commit. Throws `name_taken`. */
  claim(name: string, holder: Name): void {
    if (this.holderOf(name)) throw new StorageError('name_taken', `the name ${name} is taken`)
    this.#holders.put(name, holder)
  }

  /** Only inside a commit. */
  release(name: string): void {
    this.#holders.remove(name)
  }
}
