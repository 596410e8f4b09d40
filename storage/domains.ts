// The index from custom domains to services. An entry is written in the same transaction as the service's
// row. Default hosts are not in it: they derive from names, which have their own table.
import { StorageError } from './store/errors.ts'
import type { Store, Table } from './store/store.ts'

export class Domains {
  readonly #holders: Table<string>

  constructor(store: Store) {
    this.#holders = store.table('domains')
  }

  /** The id of the service that has the domain. */
  holderOf(domain: string): string | null {
    return this.#holders.get(domain)
  }

  /**
   * Only inside a commit. Updates the index from a service's former domains to its new ones. Throws
   * `conflict` for a domain of another service.
   */
  move(id: string, previous: readonly string[], wanted: readonly string[]): void {
    for (const domain of wanted) {
      if (previous.includes(domain)) continue
      const holder = this.holderOf(domain)
      if (holder !== null && holder !== id) {
        throw new StorageError('conflict', `the domain ${domain} belongs to another service`)
      }
      this.#holders.put(domain, id)
    }
    for (const domain of previous) if (!wanted.includes(domain)) this.#holders.remove(domain)
  }
}
