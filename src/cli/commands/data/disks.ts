// The disks of services, also of deleted ones: `berth disks`.
import type { Command } from 'commander'
import type { Disk } from '../../../api/disk.ts'
import type { TrashEntry } from '../../../api/trash.ts'
import type { Cli } from '../../client/session.ts'
import type { Runner } from '../../command.ts'
import { examples } from '../../examples.ts'
import { CliFailure } from '../../failure.ts'
import { printDone } from '../../follow-up.ts'
import { plain } from '../../terminal/output.ts'
import { askText } from '../../terminal/prompts.ts'
import { printTable } from '../../terminal/table.ts'
import { reportTrashed } from '../../trash-notice.ts'

export function addDiskCommands(program: Command, run: Runner): void {
  const disks = program
    .command('disks')
    .description('list the disks of services')
    .addHelpText('after', examples('berth disks', 'berth disks --json'))
    .action(run(list))
  disks
    .command('ls')
    .description('list them')
    .addHelpText('after', examples('berth disks ls', 'berth disks ls --json'))
    .action(run(list))
  disks
    .command('rm')
    .argument('<name>', 'the disk')
    .description('delete the disk of a deleted service; it goes to the trash')
    .option('--yes', 'do not ask')
    .option('--purge', 'delete its data immediately, without the trash')
    .addHelpText(
      'after',
      examples('berth disks rm berth-svc-01jexample', 'berth disks rm NAME --yes --purge'),
    )
    .action(run(remove))
}

async function list({ client, out }: Cli): Promise<void> {
  const disks = await client.call<Disk[]>('GET', '/disks')
  if (out.isJson) return out.json(disks)
  if (disks.length === 0) return out.say('no disks: `berth update NAME --disk PATH` adds one to a service')
  printTable(out, disks, [
    { heading: 'NAME', text: ({ name }) => name, style: () => 'bold' },
    { heading: 'SERVICE', text: ({ service_name }) => service_name },
    { heading: 'STATE', text: ({ kept }) => (kept ? 'kept, no service uses it' : 'in use') },
  ])
}

interface RemoveOptions {
  yes?: boolean
  purge?: boolean
}

async function remove(cli: Cli, name: string, { yes, purge }: RemoveOptions): Promise<void> {
  const { client } = cli
  if (!yes) {
    const data = purge ? ' with all its data' : ''
    const message = `This deletes the disk ${plain(name)}${data}. Type its name:`
    const typed = await askText(cli, { message, instead: 'confirm with --yes' })
    if (typed.trim() !== name) throw new CliFailure('the name does not match: nothing was deleted')
  }
  await client.call('DELETE', `/disks/${encodeURIComponent(name)}`, { query: { purge } })
  printDone(cli, `${name} is being deleted`)
  await reportTrashed(cli, (entry: TrashEntry) => entry.kind === 'disk' && entry.name === name)
}
