// Whose each custom domain is: an index of the services' rows, written in the transaction of the row.
// Default hosts are not in it: they follow from names, which have a table of their own.
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

  /** The id of the service whose domain it is. A damaged row of the index is looked up in `services`. */
  holderOf(domain: string, services: () => readonly Holder[]): string | null {
    try {
      return this.#holders.get(domain)
    } catch {
      return services().find(({ custom_domains }) => custom_domains.includes(domain))?.id ?? null
    }
  }

  /**
   * Only inside a commit: gives a service the domains of its new row and takes those that only its former one
   * had. Throws `conflict` for a domain of another service.
   */
  move(id: string, former: readonly string[], wanted: readonly string[], services: () => readonly Holder[]) {
    for (const domain of wanted) {
      if (former.includes(domain)) continue
      const holder = this.holderOf(domain, services)
      if (holder !== null && holder !== id) {
        throw new StorageError('conflict', `the domain ${domain} is another service's`)
      }
      this.#holders.put(domain, id)
    }
    for (const domain of former) if (!wanted.includes(domain)) this.#holders.remove(domain)
  }
}
