// Managed datastores: `berth db`. Addresses contain passwords, and are printed only on explicit request.
import { InvalidArgumentError } from 'commander'
import type { Datastore, UpgradeEstimate } from '../../../api/datastore.ts'
import { size } from '../../../quantities.ts'
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
import { age, span } from '../../terminal/ages.ts'
import { plain } from '../../terminal/output.ts'
import { confirm, confirmByName } from '../../terminal/prompts.ts'
import { printList } from '../../terminal/table.ts'
import { addBackupCommands, addRestoreCommand, datastoreSubject } from './backups.ts'
import { addClientCommands } from './datastore-shell.ts'
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
  addFlags(db.command('update').argument('<name>', 'the datastore'))
    .description('change limits (without a restart) or the backup schedule')
    .examples(
      'berth db update shop-db --memory 1024 --cpu 2',
      'berth db update shop-db --backup-schedule @daily',
    )
    .runs(update)
  addBackupCommands(db, datastoreSubject)
  addRestoreCommand(db, datastoreSubject, 'berth db restore shop-db < shop-db.sql.gz')
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
    .option(
      '--backup-keep-days <days>',
      'also remove scheduled ones after so many days; 0 for never',
      parseWholeNumber,
    )
    .option('--backup-place <name>', 'where new backups go (berth backup-places); empty for the default')
    .option('--shared-network <on|off>', 'allow all services to connect (off)', onOrOff)
}

interface SettingOptions {
  memory?: number
  cpu?: number
  backupSchedule?: string
  backupKeep?: number
  backupKeepDays?: number
  backupPlace?: string
  sharedNetwork?: boolean
}

const settingsOf = ({ memory, cpu, backupSchedule, backupKeep, ...more }: SettingOptions) => ({
  ...(memory === undefined ? {} : { memory_limit_mb: memory }),
  ...(cpu === undefined ? {} : { cpu_limit: cpu }),
  ...(backupSchedule === undefined ? {} : { backup_schedule: backupSchedule }),
  ...(backupKeep === undefined ? {} : { backup_keep: backupKeep }),
  ...(more.backupKeepDays === undefined ? {} : { backup_keep_days: more.backupKeepDays }),
  ...(more.backupPlace === undefined ? {} : { backup_place: more.backupPlace }),
  ...(more.sharedNetwork === undefined ? {} : { shared_network: more.sharedNetwork }),
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
  database?: string
  username?: string
}

async function create(cli: Cli, name: string, options: CreateOptions): Promise<number> {
  const { kind = 'postgres', version, database, username } = options
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

async function update(cli: Cli, name: string, options: SettingOptions): Promise<void> {
  const body = settingsOf(options)
  if (Object.keys(body).length === 0) {
    throw usageFailure(
      'nothing to change',
      'give --memory, --cpu, --backup-schedule, --backup-keep, --backup-place or --shared-network',
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

interface UpgradeOptions {
  to?: string
  back?: boolean
  cancel?: boolean
  yes?: boolean
}

function addUpgradeCommand(db: BerthCommand): void {
  db.command('upgrade')
    .argument('<name>', 'the datastore')
    .description('move a Postgres to a newer major version; it is closed to clients while its data is copied')
    .option('--to <version>', 'the newer version')
    .option('--back', 'return to the version before the newest upgrade, without the writes since then')
    .option('--cancel', 'stop an upgrade that runs, and reopen the version that it had')
    .option('--yes', 'do not ask')
    .examples(
      'berth db upgrade shop-db --to 18',
      'berth db upgrade shop-db --back',
      'berth db upgrade shop-db --cancel',
    )
    .runs(upgrade)
}

async function upgrade(cli: Cli, name: string, { to, back, cancel, yes }: UpgradeOptions): Promise<number> {
  const chosen = [to, back, cancel].filter((option) => option !== undefined)
  if (chosen.length !== 1) throw usageFailure('what should be done?', 'give --to VERSION, --back or --cancel')
  if (cancel) return cancelUpgrade(cli, name)
  const message = to === undefined ? await returnQuestion(cli, name) : await upgradeQuestion(cli, name, to)
  if (!yes && !(await confirm(cli, { message, instead: 'confirm with --yes' }))) {
    cli.out.say('nothing was changed')
    return 0
  }
  const body = to === undefined ? { back: true } : { version: to }
  return follow(cli, name, () =>
    cli.client.call<Datastore>('POST', `${datastorePath(name)}/upgrade`, { body }),
  )
}

async function upgradeQuestion({ client }: Cli, name: string, version: string): Promise<string> {
  const path = `${datastorePath(name)}/upgrade`
  const { from, to, size_bytes, downtime_seconds } = await client.call<UpgradeEstimate>('GET', path, {
    query: { version },
  })
  const move = `Postgres ${from} to ${to} with ${size(size_bytes)} of data`
  return `${move}: no client can connect for about ${span(downtime_seconds)}. Go on?`
}

async function returnQuestion({ client }: Cli, name: string): Promise<string> {
  const { former, version } = await client.call<Datastore>('GET', datastorePath(name))
  if (former === null)
    throw new CliFailure(`there is no former version of ${plain(name)} to return to`, {
      hint: `berth db show ${name}`,
    })
  const { version: wanted, switched_at: at } = former
  return `Postgres ${version} back to ${wanted}: all writes since ${at} (${age(at)}) are lost. Go on?`
}

/** Throws if the upgrade failed, although the datastore is available. */
async function follow(cli: Cli, name: string, ask: () => Promise<Datastore>): Promise<number> {
  let id: string | undefined
  const code = await waitForDatastore(cli, { name, verb: 'upgrading' }, async () => {
    const datastore = await ask()
    id = datastore.upgrade?.id
    return datastore
  })
  const { upgrade: newest, version } = await cli.client.call<Datastore>('GET', datastorePath(name))
  if (newest === null || newest.id !== id || newest.error === null) return code
  throw new CliFailure(`the upgrade to ${newest.to} failed: ${newest.error}`, {
    hint: `${name} serves as Postgres ${version}, with all its data`,
  })
}

async function cancelUpgrade(cli: Cli, name: string): Promise<number> {
  const path = `${datastorePath(name)}/upgrade/cancel`
  const datastore = await cli.client.call<Datastore>('POST', path)
  if (cli.out.isJson) cli.out.json(datastore)
  else printDone(cli, `the upgrade of ${name} is canceled; Postgres ${datastore.version} opens again`)
  return 0
}
