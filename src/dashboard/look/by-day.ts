// Lists by day, in the time zone of the reader.

/** In the order of the items. */
export function byDay<Item>(items: Item[], timeOf: (item: Item) => string): [day: string, Item[]][] {
  const days = new Map<string, Item[]>()
  for (const item of items) {
    const day = new Date(timeOf(item)).toDateString()
    const known = days.get(day)
    if (known) known.push(item)
    else days.set(day, [item])
  }
  return [...days].map(([day, ofDay]) => [dayWords(new Date(day)), ofDay])
}

function dayWords(date: Date): string {
  const today = new Date()
  if (date.toDateString() === today.toDateString()) return 'Today'
  today.setDate(today.getDate() - 1)
  const isYesterday = date.toDateString() === today.toDateString()
  return isYesterday ? 'Yesterday' : date.toLocaleDateString(undefined, { dateStyle: 'full' })
}
