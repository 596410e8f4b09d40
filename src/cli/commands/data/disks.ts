// The disks of services, also of deleted ones: `berth disks`.
import type { Disk, DiskChown } from '../../../api/disk.ts'
import type { Service } from '../../../api/service.ts'
import type { TrashEntry } from '../../../api/trash.ts'
import { servicePath } from '../../client/client.ts'
import type { Cli } from '../../client/session.ts'
import type { BerthCommand } from '../../command.ts'
import { CliFailure, interruption } from '../../failure.ts'
import { printDone } from '../../follow-up.ts'
import { plain } from '../../terminal/output.ts'
import { showWork } from '../../terminal/phase-line.ts'
import { confirmByName } from '../../terminal/prompts.ts'
import { printList } from '../../terminal/table.ts'
import { addBackupCommands, addRestoreCommand, diskSubject } from './backups.ts'
import { reportTrashed } from './trash.ts'

export function addDiskCommands(program: BerthCommand): void {
  const disks = program
    .command('disks')
    .alias('disk')
    .description('list the disks of services')
    .examples('berth disks', 'berth disks --json')
    .lists(list)
  disks
    .command('rm')
    .argument('<name>', 'the disk')
    .description('delete the disk of a deleted service; it goes to the trash')
    .option('--yes', 'do not ask')
    .option('--purge', 'delete its data immediately, without the trash')
    .examples('berth disks rm berth-svc-01jexample', 'berth disks rm NAME --yes --purge')
    .runs(remove)
  disks
    .command('chown')
    .argument('<service>', 'the service')
    .argument('<disk>', 'its mount path, or the name of the disk')
    .argument('[owner]', 'a user or user:group (by default the user of the live image)')
    .description('give all files of a disk to another user')
    .examples(
      'berth disks chown shop /data',
      'berth disks chown shop /data 1000:1000',
      'berth disks chown shop berth-svc-01jexample node',
    )
    .runs(chown)
  addBackupCommands(disks, diskSubject)
  addRestoreCommand(disks, diskSubject)
}

async function list({ client, out }: Cli): Promise<void> {
  const disks = await client.call<Disk[]>('GET', '/disks')
  printList(out, disks, 'no disks: `berth update NAME --disk PATH` adds one to a service', [
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
    const effect = `This deletes the disk ${name}${purge ? ' with all its data' : ''}`
    await confirmByName(cli, { name, effect, kept: 'nothing was deleted' })
  }
  await client.call('DELETE', `/disks/${encodeURIComponent(name)}`, { query: { purge } })
  printDone(cli, `${name} is being deleted`)
  await reportTrashed(cli, (entry: TrashEntry) => entry.kind === 'disk' && entry.name === name)
}

async function chown(cli: Cli, serviceName: string, named: string, owner: string | undefined): Promise<void> {
  const { client, out } = cli
  const disk = await findDisk(cli, serviceName, named)
  const path = `/disks/${encodeURIComponent(disk)}/chown`
  const change = await showWork<DiskChown>(cli, {
    name: 'changing owner',
    detail: () => plain(disk),
    begin: () => client.call<DiskChown>('POST', path, { body: owner === undefined ? {} : { owner } }),
    look: () => client.call<DiskChown>('GET', path),
    isUnderWay: ({ status }) => status === 'running',
    interruption: (begun) => begun && interruption(`${begun.id} continues in the background`),
  })
  const { status, error, hint, uid, gid } = change
  if (status === 'failed') {
    throw new CliFailure(`${disk}: ${error}`, typeof hint === 'string' ? { hint } : {})
  }
  if (out.isJson) return out.json(change)
  printDone(cli, `all files of ${disk} belong to ${uid}:${gid}`)
}

async function findDisk({ client }: Cli, serviceName: string, named: string): Promise<string> {
  const [service, disks] = await Promise.all([
    client.call<Service>('GET', servicePath(serviceName)),
    client.call<Disk[]>('GET', '/disks'),
  ])
  const own = disks.find(({ service_id, kept }) => service_id === service.id && !kept)
  if (own && [own.name, service.disk_mount_path].includes(named)) return own.name
  const problem = own
    ? `the disk of ${service.name} is ${own.name} at ${service.disk_mount_path ?? 'no path'}, not ${named}`
    : `${service.name} has no disk yet: a deploy creates it`
  throw new CliFailure(problem)
}
