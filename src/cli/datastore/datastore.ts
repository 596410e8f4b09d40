// Formats datastores, and waits until one is available.

import type { Datastore } from '../../api/datastore.ts'
import type { Cli } from '../client/session.ts'
import { CliFailure, exitCodes } from '../failure.ts'
import { age, span } from '../terminal/ages.ts'
import type { Output, Style } from '../terminal/output.ts'
import { showWork } from '../terminal/phase-line.ts'
import { printFacts } from '../terminal/table.ts'

const styles: Record<Datastore['status'], Style> = {
  available: 'green',
  creating: 'cyan',
  restarting: 'cyan',
  upgrading: 'cyan',
  failed: 'red',
  deleting: 'red',
}

export function datastorePath(name: string): string {
  return `/datastores/${encodeURIComponent(name)}`
}

export function statusStyle(status: Datastore['status']): Style {
  return styles[status]
}

/** `256 MiB`, or `default` */
export function sizeOf({ memory_limit_mb }: Datastore): string {
  return memory_limit_mb === null ? 'default' : `${memory_limit_mb} MiB`
}

/** `256 MiB and 1 CPU, backups at 0 3 * * * (UTC), 7 kept`, `default memory and default CPUs` */
export function settingsSummary(datastore: Datastore): string {
  const { memory_limit_mb: memory, cpu_limit: cpus, backup_schedule: schedule, backup_keep: keep } = datastore
  const size = memory === null ? 'default memory' : sizeOf(datastore)
  const limits = `${size} and ${cpus ?? 'default'} ${cpus === 1 ? 'CPU' : 'CPUs'}`
  return schedule === null ? limits : `${limits}, backups at ${schedule} (UTC), ${keep} kept`
}

export function showDatastore(out: Output, datastore: Datastore): void {
  const { name, status, kind, version } = datastore
  printFacts(out, [
    ['name', name, 'bold'],
    ['id', datastore.id],
    ['kind', `${kind} ${version}`],
    ['status', datastore.phase ? `${status}, ${datastore.phase}` : status, statusStyle(status)],
    ['error', datastore.error],
    ['next attempt', untilNext(datastore)],
    ['note', datastore.notice],
    ['database', datastore.database],
    ['user', datastore.username],
    ['for services', `${datastore.internal_host}:${datastore.internal_port}`],
    ['in their env', `\${{datastore.${name}.connectionString}}`],
    ['on this host', datastore.host_port === null ? null : `port ${datastore.host_port}`],
    ['shared network', datastore.shared_network ? 'on: every service may connect to it' : null],
    ['with password', `berth db url ${name}`],
    ['memory', sizeOf(datastore)],
    ['cpu', String(datastore.cpu_limit ?? 'default')],
    ['backups', backupsSummary(datastore)],
    ['backup place', datastore.backup_place],
    ['upgrade', upgradeSummary(datastore)],
    ['former version', formerSummary(datastore)],
    ['created', age(datastore.created_at)],
  ])
}

function upgradeSummary({ upgrade }: Datastore): string | null {
  if (upgrade === null || upgrade.error === null) return null
  return `to ${upgrade.to} failed ${age(upgrade.finished_at ?? upgrade.started_at)}: ${upgrade.error}`
}

function formerSummary({ name, former }: Datastore): string | null {
  if (former === null) return null
  return `${former.version}, left ${age(former.switched_at)}: berth db upgrade ${name} --back`
}

function backupsSummary({
  backup_schedule: schedule,
  backup_keep: keep,
  backup_keep_days: days,
  next_backup_at: at,
}: Datastore): string {
  if (schedule === null || at === null) return 'no scheduled backups'
  const kept = `${keep} kept${days === null ? '' : ` for ${days} days`}`
  return `${schedule} (UTC), ${kept}, next in ${span((Date.parse(at) - Date.now()) / 1000)}`
}

function untilNext({ status, next_attempt_at: at }: Datastore): string | null {
  return status === 'failed' && at ? `in ${span((Date.parse(at) - Date.now()) / 1000)}` : null
}

interface Work {
  name: string
  verb: string
}

/** The same as `untilAvailable`, and shows the datastore. Returns the exit code. */
export async function waitForDatastore(cli: Cli, work: Work, ask: () => Promise<Datastore>): Promise<number> {
  const datastore = await untilAvailable(cli, work, ask)
  if (!cli.out.isJson) showDatastore(cli.out, datastore)
  return exitCodes.ok
}

/** Sends the request, and polls until the datastore is available. Throws CliFailure if it fails. */
export async function untilAvailable(
  cli: Cli,
  { name, verb }: Work,
  ask: () => Promise<Datastore>,
): Promise<Datastore> {
  const { client, out } = cli
  const datastore = await showWork<Datastore>(cli, {
    name: verb,
    detail: (current) => current?.phase ?? name,
    summary: (current) => (current.status === 'available' ? current.name : null),
    begin: ask,
    look: ({ id }) => client.call<Datastore>('GET', datastorePath(id)),
    isUnderWay,
  })
  if (out.isJson) out.json(datastore)
  if (datastore.status === 'available') return datastore
  throw new CliFailure(`${datastore.name} ${datastore.status}: ${datastore.error ?? 'it is not available'}`, {
    hint: datastore.hint ?? undefined,
  })
}

function isUnderWay({ status }: Datastore): boolean {
  return status === 'creating' || status === 'restarting' || status === 'upgrading'
}
