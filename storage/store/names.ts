// The index of names: services and datastores share one namespace. An entry is written in the transaction of
// the service or datastore.
import { StorageError } from './errors.ts'
import type { Store, Table } from './store.ts'

export interface Name {
  kind: 'service' | 'datastore'
  id: string
}

type Finder = (name: string) => Name | null

export class Names {
  readonly #holders: Table<Name>
  readonly #finders: Finder[] = []

  constructor(store: Store) {
    this.#holders = store.table('names')
  }

  /** Finds the holder of a name whose index entry is damaged. */
  addFallback(finder: Finder): void {
    this.#finders.push(finder)
  }

  holderOf(name: string): Name | null {
    try {
      return this.#holders.get(name)
    } catch {
      return this.#finders.map((find) => find(name)).find((found) => found !== null) ?? null
    }
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
