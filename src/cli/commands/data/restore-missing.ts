// `berth restore-missing`: gives the datastores and disks of a restored server their data again.
import type { Backup, Restore } from '../../../api/backup.ts'
import type { Info } from '../../../api/info.ts'
import { messageOf } from '../../../errors.ts'
import type { Cli } from '../../client/session.ts'
import type { BerthCommand } from '../../command.ts'
import { CliFailure } from '../../failure.ts'
import { printDone } from '../../follow-up.ts'
import { datastoreSubject, diskSubject, restoreFrom } from './backups.ts'

export function addRestoreMissingCommand(program: BerthCommand): void {
  program
    .command('restore-missing')
    .description('restore the data that a restored server misses')
    .examples('berth restore-missing', 'berth restore-missing --json')
    .runs(restoreMissing)
}

async function restoreMissing(cli: Cli): Promise<void> {
  const { client, out } = cli
  const { held } = await client.call<Info>('GET', '/info')
  if (held === null) throw new CliFailure('the server is not held: nothing was restored')
  const restored: Restore[] = []
  const failures: string[] = []
  for (const { name, what } of held.missing ?? []) {
    if (what === 'image') continue
    const subject = what === 'disk' ? diskSubject : datastoreSubject
    const query = { [what === 'disk' ? 'disk' : 'datastore']: name }
    const backups = await client.call<Backup[]>('GET', '/backups', { query })
    const newest = backups.find(({ status }) => status === 'good')
    try {
      if (!newest) throw new Error(`${name} has no good backup`)
      restored.push(await restoreFrom(cli, subject.pathOf(name), newest.id))
    } catch (error) {
      failures.push(messageOf(error))
    }
  }
  if (out.isJson) out.json(restored)
  else
    for (const { datastore, service, backup_id } of restored)
      printDone(cli, `${datastore ?? service} now has the data of ${backup_id}`)
  if (failures.length > 0) throw new CliFailure(failures.join('; '))
}
