// Actors that wait for an operator.
import type { Examined } from './examined.ts'
import { type Finding, finding } from './finding.ts'

const maxNamed = 5

export async function checkActors({ stored }: Examined): Promise<Finding[] | string> {
  const parked = stored === null ? [] : [...stored.actors.parked()]
  if (parked.length === 0) return 'none is parked'
  const ids = parked.slice(0, maxNamed).map(({ id, code }) => `${id} (${code})`)
  return [finding('actors_parked', { count: parked.length, ids: ids.join(', '), id: parked[0]!.id })]
}
