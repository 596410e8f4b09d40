// One page of a list of actors, the newest first.

export interface PageRequest<Item> {
  limit: number
  /** Only what is older than this id, which need not exist any more. */
  before?: string | undefined
  accepts?: (record: Item) => boolean
}

export interface Page<Item> {
  records: Item[]
  /** The `before` of the next page; null when this is the last one. */
  next: string | null
}

/** A filter that fits almost nothing must not read everything in one go: the page is shorter then. */
const maxScanned = 2000

export function paginate<Item>(
  ids: Iterable<string>,
  recordOf: (id: string) => Item | null,
  { limit, accepts = () => true }: PageRequest<Item>,
): Page<Item> {
  const records: Item[] = []
  let scanned = 0
  let last: string | null = null
  for (const id of ids) {
    if (records.length === limit || scanned === maxScanned) return { records, next: last }
    const record = recordOf(id)
    if (record && accepts(record)) records.push(record)
    scanned += 1
    last = id
  }
  return { records, next: null }
}
