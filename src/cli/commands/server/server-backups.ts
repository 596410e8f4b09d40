// `berth server-backups`: the backups of the whole server. They are started in the dashboard or by its
// schedule, because no token may start one.
import type { ServerBackup } from '../../../api/server-backup.ts'
import { size } from '../../../quantities.ts'
import type { Cli } from '../../client/session.ts'
import type { BerthCommand } from '../../command.ts'
import { age } from '../../terminal/ages.ts'
import type { Style } from '../../terminal/output.ts'
import { printList } from '../../terminal/table.ts'

export function addServerBackupCommands(program: BerthCommand): void {
  program
    .command('server-backups')
    .description('list the backups of the whole server, newest first')
    .examples('berth server-backups', 'berth server-backups --json')
    .lists(list)
}

const styles: Record<ServerBackup['status'], Style> = {
  stored: 'green',
  running: 'cyan',
  failed: 'red',
  deleting: 'red',
}

async function list({ client, out }: Cli): Promise<void> {
  const backups = await client.call<ServerBackup[]>('GET', '/server-backups')
  printList(out, backups, 'no backups of the server: --server-backup-schedule of berthd makes them', [
    { heading: 'ID', text: ({ id }) => id },
    { heading: 'STATUS', text: ({ status }) => status, style: ({ status }) => styles[status] },
    {
      heading: 'SIZE',
      text: ({ size_bytes }) => (size_bytes === null ? '' : size(size_bytes)),
      isRight: true,
    },
    { heading: 'BY', text: ({ trigger }) => (trigger === 'schedule' ? 'schedule' : 'hand') },
    { heading: 'MADE', text: ({ created_at }) => age(created_at) },
    { heading: 'KEY', text: ({ key_fingerprint }) => key_fingerprint ?? '' },
    { heading: 'NOTE', text: ({ error, file }) => error ?? file, isFlexible: true },
  ])
}
