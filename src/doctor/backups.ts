// The age of the backups of each datastore.
import { nextTime } from '../domain/schedule.ts'
import { count, duration } from '../quantities.ts'
import type { Examined, Stored } from './examined.ts'
import { type Finding, finding } from './finding.ts'

const hourMs = 60 * 60 * 1000
/** Without a schedule. */
const oldMs = 48 * hourMs
/** A backup and its retries take a while. */
const graceMs = 6 * hourMs
const maxSearched = 50

export async function checkBackups({ stored }: Examined): Promise<Finding[] | string> {
  if (stored === null) return 'no datastores yet'
  const datastores = stored.datastores.list()
  const found = datastores.flatMap((datastore) => faultsOf(stored, datastore))
  return found.length > 0 ? found : `${count(datastores.length, 'datastore')}, each with a recent backup`
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
