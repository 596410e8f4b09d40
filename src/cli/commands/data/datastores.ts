// Managed datastores from the command line: `berth db`. Addresses contain passwords, so they are printed only
// by commands that explicitly request an address.
import { InvalidArgumentError, Option } from 'commander'
import type { Datastore } from '../../../api/datastore.ts'
import type { Cli } from '../../client/session.ts'
import type { BerthCommand } from '../../command.ts'
import {
  datastorePath,
  settingsSummary,
  showDatastore,
  sizeOf,
  statusStyle,
  waitForDatastore,
} from '../../datastore/datastore.ts'
import { CliFailure, usageFailure, withoutSecrets } from '../../failure.ts'
import { printDone } from '../../follow-up.ts'
import { onOrOff, parseMebibytes, parseNumber, parseWholeNumber } from '../../service/setting-flags.ts'
import { plain } from '../../terminal/output.ts'
import { confirmByName } from '../../terminal/prompts.ts'
import { printList } from '../../terminal/table.ts'
import { addBackupCommands } from './datastore-backups.ts'
import { addClientCommands } from './datastore-shell.ts'
import { addUpgradeCommand } from './datastore-upgrade.ts'
import { reportTrashed } from './trash.ts'

export function addDatastoreCommands(program: BerthCommand): void {
  const db = program
    .command('db')
    .description('list managed Postgres and Redis datastores')
    .examples('berth db', 'berth db create shop-db')
    .lists(list)
  addCreate(db)
  db.command('show')
    .argument('<name>', 'the datastore')
    .description('show the settings, the state and the addresses of a datastore')
    .examples('berth db show shop-db', 'berth db show shop-db --json')
    .runs(show)
  db.command('url')
    .argument('<name>', 'the datastore')
    .description('print the connection string for this host, with the password')
    .option('--internal', 'the connection string for services')
    .examples('psql "$(berth db url shop-db)"', 'berth db url cache --internal')
    .runs(printUrl)
  const updating = addFlags(db.command('update').argument('<name>', 'the datastore'))
  for (const flags of ['--version <version>', '--server-version <version>'])
    updating.addOption(new Option(flags).hideHelp())
  updating
    .description('change limits (without a restart) or the backup schedule')
    .examples(
      'berth db update shop-db --memory 1024 --cpu 2',
      'berth db update shop-db --backup-schedule @daily',
    )
    .runs(update)
  addBackupCommands(db)
  addClientCommands(db)
  addUpgradeCommand(db)
  db.command('restart')
    .argument('<name>', 'the datastore')
    .description('restart a datastore')
    .examples('berth db restart shop-db', 'berth db restart cache --json')
    .runs(restart)
  db.command('rm')
    .argument('<name>', 'the datastore')
    .description('delete a datastore; its data stays in the trash for a while; prompts for its name')
    .option('--yes', 'do not ask')
    .option('--purge', 'delete its data immediately, without the trash')
    .option('--force', 'even if services refer to it')
    .examples('berth db rm shop-db', 'berth db rm cache --yes --force')
    .runs(remove)
}

function addCreate(db: BerthCommand): void {
  const command = db
    .command('create')
    .argument('<name>', 'the new name')
    .description('create a datastore and wait until it is available')
    .option('-k, --kind <kind>', 'postgres or redis (postgres)', kindOf)
    .option('--version <version>', 'the version of Postgres (17) or Redis (8)')
    .addOption(new Option('--server-version <version>', 'old name of --version').hideHelp())
    .option('--database <name>', 'the database of Postgres (the name of the datastore)')
    .option('--username <name>', 'the user of Postgres (the name of the database)')
  addFlags(command)
    .examples('berth db create shop-db --version 16', 'berth db create cache --kind redis --memory 256')
    .runs(create)
}

function kindOf(text: string): string {
  if (text !== 'postgres' && text !== 'redis') throw new InvalidArgumentError('It must be postgres or redis.')
  return text
}

function addFlags(command: BerthCommand): BerthCommand {
  return command
    .option('--memory <MiB>', 'also as 1g; from 16; 0 is the default of the server', parseMebibytes)
    .option('--cpu <CPUs>', 'from 0.01; 0 is the default of the server', parseNumber)
    .option('--backup-schedule <cron>', 'when to create backups, in UTC; empty for never')
    .option('--backup-keep <number>', 'how many scheduled backups to keep (7)', parseWholeNumber)
    .option('--shared-network <on|off>', 'allow all services to connect (off)', onOrOff)
}

interface SettingOptions {
  memory?: number
  cpu?: number
  backupSchedule?: string
  backupKeep?: number
  sharedNetwork?: boolean
}

const settingsOf = ({ memory, cpu, backupSchedule, backupKeep, sharedNetwork }: SettingOptions) => ({
  ...(memory === undefined ? {} : { memory_limit_mb: memory }),
  ...(cpu === undefined ? {} : { cpu_limit: cpu }),
  ...(backupSchedule === undefined ? {} : { backup_schedule: backupSchedule }),
  ...(backupKeep === undefined ? {} : { backup_keep: backupKeep }),
  ...(sharedNetwork === undefined ? {} : { shared_network: sharedNetwork }),
})

async function list({ client, out }: Cli): Promise<void> {
  const datastores = await client.call<Datastore[]>('GET', '/datastores')
  printList(out, datastores, 'no datastores yet: `berth db create NAME` creates a Postgres', [
    { heading: 'NAME', text: ({ name }) => name, style: () => 'bold' },
    { heading: 'STATUS', text: ({ status }) => status, style: ({ status }) => statusStyle(status) },
    { heading: 'KIND', text: ({ kind, version }) => `${kind} ${version}` },
    { heading: 'PORT', text: ({ host_port }) => String(host_port ?? ''), isRight: true },
    { heading: 'MEMORY', text: sizeOf, isRight: true },
    { heading: 'NOTE', text: ({ error, notice }) => error ?? notice ?? '', isFlexible: true },
  ])
}

interface CreateOptions extends SettingOptions {
  kind?: string
  version?: string
  serverVersion?: string
  database?: string
  username?: string
}

async function create(cli: Cli, name: string, options: CreateOptions): Promise<number> {
  const { kind = 'postgres', serverVersion, version = serverVersion, database, username } = options
  const body = { name, kind, version, database, username, ...settingsOf(options) }
  return waitForDatastore(cli, { name, verb: 'creating' }, () =>
    cli.client.call<Datastore>('POST', '/datastores', { body }),
  )
}

async function show({ client, out }: Cli, name: string): Promise<void> {
  const datastore = await client.call<Datastore>('GET', datastorePath(name))
  if (out.isJson) return out.json(datastore)
  showDatastore(out, datastore)
}

async function printUrl(
  { client, out, server }: Cli,
  name: string,
  options: { internal?: boolean },
): Promise<void> {
  const datastore = await client.call<Datastore>('GET', datastorePath(name))
  if (datastore.password === null) throw withoutSecrets(server.url, 'passwords of datastores')
  const url = options.internal ? datastore.internal_url : datastore.external_url
  if (url === null) throw new CliFailure(`${name} has no address yet`, { hint: `berth db show ${name}` })
  if (out.isJson) return out.json({ url })
  out.print(plain(url))
}

interface UpdateOptions extends SettingOptions {
  version?: string
  serverVersion?: string
}

async function update(cli: Cli, name: string, options: UpdateOptions): Promise<void> {
  if (options.version !== undefined || options.serverVersion !== undefined) {
    throw usageFailure('the version is not a setting', `berth db upgrade ${name} --to VERSION moves its data`)
  }
  const body = settingsOf(options)
  if (Object.keys(body).length === 0) {
    throw usageFailure(
      'nothing to change',
      'give --memory, --cpu, --backup-schedule, --backup-keep or --shared-network',
    )
  }
  const datastore = await cli.client.call<Datastore>('PATCH', datastorePath(name), { body })
  if (cli.out.isJson) return cli.out.json(datastore)
  printDone(cli, `${datastore.name} has ${settingsSummary(datastore)}`)
  if (datastore.notice) cli.out.say(`   ${plain(datastore.notice)}`)
}

function restart(cli: Cli, name: string): Promise<number> {
  return waitForDatastore(cli, { name, verb: 'restarting' }, () =>
    cli.client.call<Datastore>('POST', `${datastorePath(name)}/restart`),
  )
}

interface RemoveOptions {
  yes?: boolean
  purge?: boolean
  force?: boolean
}

async function remove(cli: Cli, name: string, { yes, force, purge }: RemoveOptions): Promise<void> {
  const { client } = cli
  const datastore = await client.call<Datastore>('GET', datastorePath(name))
  if (!yes) {
    const { name, kind } = datastore
    const effect = `This deletes the ${kind} ${name}${purge ? ' with all its data' : ''}`
    await confirmByName(cli, { name, effect, kept: 'nothing was deleted' })
  }
  await client.call('DELETE', datastorePath(datastore.id), { query: { force, purge } })
  printDone(cli, `${datastore.name} is being deleted${purge ? ', with its data' : ''}`)
  if (!purge) await reportTrashed(cli, ({ id }) => id === datastore.id)
}
