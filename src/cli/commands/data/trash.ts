// Deleted data that can be restored: `berth trash`.
import type { Datastore } from '../../../api/datastore.ts'
import type { RestoredTrash, TrashEntry } from '../../../api/trash.ts'
import { size } from '../../../quantities.ts'
import type { Cli } from '../../client/session.ts'
import type { BerthCommand } from '../../command.ts'
import { datastorePath, waitForDatastore } from '../../datastore/datastore.ts'
import { CliFailure, exitCodes, usageFailure } from '../../failure.ts'
import { printDone, printNext, printUndo } from '../../follow-up.ts'
import { age, timeLeft } from '../../terminal/ages.ts'
import { confirmByName } from '../../terminal/prompts.ts'
import { printList } from '../../terminal/table.ts'

export function addTrashCommands(program: BerthCommand): void {
  const trash = program
    .command('trash')
    .description('list deleted datastores and disks')
    .examples('berth trash', 'berth trash --json')
    .lists(list)
  trash
    .command('restore')
    .argument('<name>', 'its name or its id')
    .description('restore a datastore with its data, or a disk')
    .option('--name <name>', 'another name for the datastore')
    .examples('berth trash restore shop-db', 'berth trash restore dst-01jexample --name old-db')
    .runs(restore)
  trash
    .command('purge')
    .argument('<name>', 'its name or its id')
    .description('remove an entry and its data immediately; prompts for its name')
    .option('--yes', 'do not ask')
    .examples('berth trash purge shop-db', 'berth trash purge dsk-01jexample --yes')
    .runs(purge)
}

/** Describes the deleted object, for example `disk of shop`. */
export function wasOf({ kind, datastore_kind, version, service_name, mount_path }: TrashEntry): string {
  if (kind === 'datastore') return `${datastore_kind} ${version}`
  return mount_path === null ? `disk of ${service_name}` : `${mount_path} of ${service_name}`
}

async function list({ client, out }: Cli): Promise<void> {
  const entries = await client.call<TrashEntry[]>('GET', '/trash')
  printList(out, entries, 'the trash is empty', [
    { heading: 'ID', text: ({ id }) => id },
    { heading: 'NAME', text: ({ name }) => name, style: () => 'bold', isFlexible: true },
    { heading: 'WAS', text: wasOf },
    {
      heading: 'SIZE',
      text: ({ size_bytes }) => (size_bytes === null ? '' : size(size_bytes)),
      isRight: true,
    },
    { heading: 'DELETED', text: ({ deleted_at }) => age(deleted_at) },
    { heading: 'KEPT FOR', text: ({ expires_at }) => timeLeft(expires_at) },
  ])
}

/** By id, by name, or by the name of the service that the disk belonged to. */
async function findEntry({ client }: Cli, wanted: string): Promise<TrashEntry> {
  const entries = await client.call<TrashEntry[]>('GET', '/trash')
  const byId = entries.find(({ id }) => id === wanted)
  if (byId) return byId
  const named = entries.filter(({ name }) => name === wanted)
  const matches = named.length > 0 ? named : entries.filter(({ service_name }) => service_name === wanted)
  if (matches.length === 1) return matches[0]!
  if (matches.length === 0) {
    throw new CliFailure(`${wanted} is not in the trash`, {
      hint: 'berth trash',
      exitCode: exitCodes.notFound,
    })
  }
  throw usageFailure(
    `the trash has ${matches.length} entries with that name`,
    matches.map(({ id }) => id).join(', '),
  )
}

const entryPath = ({ id }: TrashEntry) => `/trash/${encodeURIComponent(id)}`

async function restore(cli: Cli, wanted: string, { name }: { name?: string }): Promise<number> {
  const { client, out } = cli
  const entry = await findEntry(cli, wanted)
  const body = name === undefined ? {} : { name }
  const ask = () => client.call<RestoredTrash>('POST', `${entryPath(entry)}/restore`, { body })
  if (entry.kind === 'datastore') {
    return waitForDatastore(cli, { name: entry.name, verb: 'restoring' }, async () => {
      const { id } = await ask()
      return client.call<Datastore>('GET', datastorePath(id))
    })
  }
  const restored = await ask()
  if (out.isJson) out.json(restored)
  else printDone(cli, `the disk ${restored.name} of ${entry.service_name} was restored`)
  // The volume of an image is now the disk of its service, from its next deploy on.
  printNext(cli, entry.mount_path === null ? 'berth disks' : `berth restart ${entry.service_name}`)
  return 0
}

async function purge(cli: Cli, wanted: string, { yes }: { yes?: boolean }): Promise<void> {
  const entry = await findEntry(cli, wanted)
  if (!yes) {
    const effect = `This removes ${entry.name} (${wasOf(entry)}) with all its data`
    await confirmByName(cli, { name: entry.name, effect, kept: 'nothing was removed' })
  }
  await cli.client.call('DELETE', entryPath(entry))
  printDone(cli, `${entry.name} is being removed, with its data`)
}

/** Prints a warning if the data is not in the trash. */
export async function reportTrashed(cli: Cli, isMatch: (entry: TrashEntry) => boolean): Promise<void> {
  const entry = (await cli.client.call<TrashEntry[]>('GET', '/trash')).find(isMatch)
  if (!entry) return cli.out.say('   its data was deleted: it is not in the trash')
  const left = timeLeft(entry.expires_at)
  cli.out.say(`   its data stays in the trash for ${left}, until ${entry.expires_at}`)
  printUndo(cli, `berth trash restore ${entry.id}`)
}
