// Paging over a list of actors, newest first.

export interface PageRequest<Item> {
  limit: number
  /** Only records older than this id. The id itself may be deleted. */
  before?: string | undefined
  accepts?: (record: Item) => boolean
}

export interface Page<Item> {
  records: Item[]
  /** The `before` of the next page; null on the last page. */
  next: string | null
}

/** Bounds the reads of a filter that accepts almost nothing. The page is then shorter than its limit. */
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
