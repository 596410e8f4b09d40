// The index from custom domains to services. An entry is written in the same transaction as the service's
// row. Default hosts are not in it: they derive from names, which have their own table.
import { StorageError } from './store/errors.ts'
import type { Store, Table } from './store/store.ts'

interface Holder {
  id: string
  custom_domains: readonly string[]
}

export class Domains {
  readonly #holders: Table<string>

  constructor(store: Store) {
    this.#holders = store.table('domains')
  }

  /** The id of the service that has the domain. For a damaged index row, `services` is searched. */
  holderOf(domain: string, services: () => readonly Holder[]): string | null {
    try {
      return this.#holders.get(domain)
    } catch {
      return services().find(({ custom_domains }) => custom_domains.includes(domain))?.id ?? null
    }
  }

  /**
   * Only inside a commit. Updates the index from a service's former domains to its new ones. Throws
   * `conflict` for a domain of another service.
   */
  move(
    id: string,
    previous: readonly string[],
    wanted: readonly string[],
    services: () => readonly Holder[],
  ) {
    for (const domain of wanted) {
      if (previous.includes(domain)) continue
      const holder = this.holderOf(domain, services)
      if (holder !== null && holder !== id) {
        throw new StorageError('conflict', `the domain ${domain} belongs to another service`)
      }
      this.#holders.put(domain, id)
    }
    for (const domain of previous) if (!wanted.includes(domain)) this.#holders.remove(domain)
  }
}
