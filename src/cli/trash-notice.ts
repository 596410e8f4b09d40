// The message of a deletion about the trash: how long the data is kept, and how to restore it.
import type { TrashEntry } from '../api/trash.ts'
import type { Cli } from './client/session.ts'
import { printUndo } from './follow-up.ts'
import { timeLeft } from './terminal/ages.ts'

/** Prints a warning if the data is not in the trash. */
export async function reportTrashed(cli: Cli, isMatch: (entry: TrashEntry) => boolean): Promise<void> {
  const entry = (await cli.client.call<TrashEntry[]>('GET', '/trash')).find(isMatch)
  if (!entry) return cli.out.say('   its data was deleted: it is not in the trash')
  const left = timeLeft(entry.expires_at)
  cli.out.say(`   its data stays in the trash for ${left}, until ${entry.expires_at}`)
  printUndo(cli, `berth trash restore ${entry.id}`)
}
