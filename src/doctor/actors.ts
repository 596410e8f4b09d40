// What waits for an operator: parked actors, and a restored server that is held.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Examined } from './examined.ts'
import { type Finding, finding } from './finding.ts'

const maxNamed = 5
/** The file of storage/hold.ts. */
const isHeld = (directory: string) => existsSync(join(directory, 'held'))

export async function checkActors({ config, stored }: Examined): Promise<Finding[] | string> {
  const directory = config['data-dir']
  const held = isHeld(directory) ? [finding('server_held', { directory })] : []
  const parked = stored === null ? [] : [...stored.actors.parked()]
  if (parked.length === 0) return held.length > 0 ? held : 'none is parked'
  const ids = parked.slice(0, maxNamed).map(({ id, code }) => `${id} (${code})`)
  const values = { count: parked.length, ids: ids.join(', '), id: parked[0]!.id }
  return held.concat(finding('actors_parked', values))
}
