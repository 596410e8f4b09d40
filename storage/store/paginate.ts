// One page of a list. A filter that accepts almost nothing reads a bounded number of items: the page is then
// shorter than its limit, and still has a next one.

export interface PageRequest<Item> {
  limit: number
  accepts?: (item: Item) => boolean
  /** How many ids are looked at. */
  maxScanned?: number
}

export interface Page<Item, Id> {
  records: Item[]
  /** The last id of this page; null on the last page. */
  next: Id | null
}

export function paginate<Item, Id>(
  ids: Iterable<Id>,
  read: (id: Id) => Item | null,
  { limit, accepts = () => true, maxScanned = 2000 }: PageRequest<Item>,
): Page<Item, Id> {
  const records: Item[] = []
  let scanned = 0
  let last: Id | null = null
  for (const id of ids) {
    if (records.length === limit || scanned === maxScanned) return { records, next: last }
    const item = read(id)
    if (item !== null && accepts(item)) records.push(item)
    scanned += 1
    last = id
  }
  return { records, next: null }
}
