// Advice for failed job runs, datastores, backups and restores.
import type { Backup, Restore } from '../../api/backup.ts'
import type { DiskChown } from '../../api/disk.ts'
import type { JobRun } from '../../api/job.ts'
import { type Advice, advise, type FailedRecord } from './advice.ts'

type Run = FailedRecord & Pick<JobRun, 'command'>

/** `name` is the name of the service. Null for a run that has not failed. */
export function adviseOnRun(run: Run, name: string): Advice | null {
  if (!run.error_code) return null
  const again = run.command === null ? `berth run ${name}` : `berth run ${name} -- COMMAND`
  switch (run.error_code) {
    case 'out_of_memory': {
      const command = `berth update ${name} --memory 1024`
      return advise(`raise the memory limit: ${command}`, command)
    }
    case 'timeout': {
      const command = `berth update ${name} --job-timeout SECONDS`
      return advise(`raise the time limit: ${command}`, command)
    }
    case 'withdrawn':
      return advise(`check the state of the service: berth show ${name}`, `berth show ${name}`)
    case 'image_gone':
      return advise(`rebuild the image: berth deploy ${name}`, `berth deploy ${name}`)
    case 'unresolved_reference':
      return advise(`check the variables: berth env ${name}`, `berth env ${name}`)
    default:
      return advise(`run it again: ${again}`, again)
  }
}

export function adviseOnDatastore({ error_code: code }: FailedRecord, name: string): Advice | null {
  if (!code) return null
  const restart = `berth db restart ${name}`
  switch (code) {
    case 'port_taken':
      return advise('free a port of --datastore-ports on the server, or give berthd another range')
    case 'insufficient_storage':
      return advise(`free disk space on the server, then: ${restart}`, restart)
    default:
      return advise(`Berth restarts it later; restart it now: ${restart}`, restart)
  }
}

export function adviseOnBackup({ error_code: code, datastore }: FailedRecord & Pick<Backup, 'datastore'>) {
  if (!code) return null
  const again = `berth db backup ${datastore}`
  switch (code) {
    case 'insufficient_storage':
      return advise(`free disk space on the server, then: ${again}`, again)
    case 'datastore_failed':
      return advise(`check the datastore: berth why ${datastore}`, `berth why ${datastore}`)
    default:
      return advise(`try again: ${again}`, again)
  }
}

/** Null for a restore that has not failed. The datastore keeps its former data. */
export function adviseOnRestore({ error_code: code, datastore }: FailedRecord & Pick<Restore, 'datastore'>) {
  if (!code || code === 'canceled') return null
  switch (code) {
    case 'damaged_file':
    case 'unsupported_dump':
    case 'not_found': {
      const command = `berth db backups ${datastore}`
      return advise(`restore another backup of the list: ${command}`, command)
    }
    case 'insufficient_storage':
      return advise('free disk space on the server, then restore again; manual: /docs/operations#disk-space')
    default:
      return advise(`check the datastore: berth why ${datastore}`, `berth why ${datastore}`)
  }
}

type Chown = FailedRecord & Pick<DiskChown, 'disk' | 'owner'>

/** Null for a change of an owner that has not failed. Repeating it is safe. */
export function adviseOnChown(chown: Chown, name: string): Advice | null {
  if (!chown.error_code) return null
  const { owner, disk } = chown
  const hasToBeNumber = ['invalid_request', 'image_gone'].includes(chown.error_code)
  const words = hasToBeNumber ? [disk, 'UID:GID'] : owner === null ? [disk] : [disk, owner]
  const command = ['berth disks chown', name, ...words].join(' ')
  return advise(`try again: ${command}`, command)
}
