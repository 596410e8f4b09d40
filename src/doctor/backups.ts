// The key and the age of backups of the server, and the age of the backups of each datastore.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { nextTime } from '../domain/schedule.ts'
import { count, duration } from '../quantities.ts'
import { recipientFile } from '../server-backup/keys.ts'
import type { Examined, Stored } from './examined.ts'
import { type Finding, finding } from './finding.ts'

const hourMs = 60 * 60 * 1000
/** Without a schedule. */
const oldMs = 48 * hourMs
/** A backup and its retries take a while. */
const graceMs = 6 * hourMs
const maxSearched = 50

export async function checkBackups({ config, stored }: Examined): Promise<Finding[] | string> {
  const datastores = stored?.datastores.list() ?? []
  const found = [
    ...serverFaults({ config, stored }),
    ...datastores.flatMap((datastore) => faultsOf(stored!, datastore)),
  ]
  return found.length > 0 ? found : `${count(datastores.length, 'datastore')}, each with a recent backup`
}

/** Without a schedule, something outside of the server may make the backups. */
function serverFaults({ config, stored }: Pick<Examined, 'config' | 'stored'>): Finding[] {
  if (!existsSync(join(config['data-dir'], recipientFile))) return [finding('recovery_key_missing')]
  const schedule = config['server-backup-schedule']
  if (schedule === '' || stored === null) return []
  const ids = [...stored.actors.active('server-backup')].map(({ id }) => id).sort()
  const records = ids.reverse().flatMap((id) => stored.actors.record<'server-backup'>(id) ?? [])
  const newest = records.find(({ status }) => status === 'stored')
  if (!newest) return [finding('server_backup_missing', { schedule })]
  const made = new Date(newest.created_at)
  const due = nextTime(schedule, made)?.getTime()
  const isLate = due !== undefined && Date.now() > due + graceMs
  return isLate ? [finding('server_backup_old', { age: duration(Date.now() - made.getTime()) })] : []
}

function faultsOf({ actors }: Stored, { id, name }: { id: string; name: string }): Finding[] {
  const newest = actors.list<'backup'>('backup', id, maxSearched).find(({ status }) => status === 'good')
  if (!newest) return [finding('backup_missing', { name })]
  const made = new Date(newest.created_at)
  const schedule = actors.record<'datastore'>(id)?.backup_schedule
  const due = schedule ? nextTime(schedule, made)?.getTime() : made.getTime() + oldMs
  const isLate = due !== undefined && Date.now() > due + graceMs
  return isLate ? [finding('backup_old', { name, age: duration(Date.now() - made.getTime()) })] : []
}
