// The datastore in responses: its record, its connection strings, and its password from the secret store.
import type { DatastoreContext } from '../../../machines/datastore/datastore-context.ts'
import type { DatastoreRecord } from '../../../machines/datastore/datastore-record.ts'
import type { CommonRecordFields } from '../../../storage/actors/actors.ts'
import type { Storage } from '../../../storage/index.ts'
import type { Caller } from '../../account/callers.ts'
import { readsSecrets } from '../../account/rights.ts'
import { Datastore } from '../../api/datastore.ts'
import { connectionString, datastorePorts, externalHost } from '../../domain/datastore-urls.ts'
import { nextTime } from '../../domain/schedule.ts'
import { conflict, notFound } from '../../errors.ts'
import { suggestion } from '../../nearest-name.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { adviseOnDatastore, failureOf } from '../why/advice.ts'
import { shownFields } from './stored-record.ts'

export function findDatastore(storage: Storage, idOrName: string): DatastoreRecord & CommonRecordFields {
  const id = storage.datastores.idOf(idOrName)
  const record = id === null ? null : storage.actors.record<'datastore'>(id)
  if (!record) throw notFound(`there is no datastore '${idOrName}'`, hintFor(storage, idOrName))
  return record
}

function hintFor(storage: Storage, wanted: string): string {
  if (storage.services.get(wanted)) return `it is a service: berth show ${wanted}`
  const names = storage.datastores.list().map(({ name }) => name)
  return suggestion(wanted, names) ?? 'berth db lists them'
}

export function assertAvailable({ name, status, error }: DatastoreRecord): void {
  if (status === 'available') return
  const hint = status === 'failed' ? `berth db restart ${name}` : `berth db show ${name}`
  throw conflict(`${name} is ${status}${error === null ? '' : `: ${error}`}`, hint)
}

export function toDatastore(
  { storage, config }: Pick<HttpContext, 'storage' | 'config'>,
  record: DatastoreRecord & CommonRecordFields,
): Datastore {
  const { id, name, kind, username, database, host_port } = record
  const credentials = { username, database, password: storage.datastores.password(id) }
  const internal = { host: name, port: datastorePorts[kind] }
  const external = host_port === null ? null : { host: externalHost(config.datastoreBind), port: host_port }
  return shownFields(Datastore, record, {
    ...failureOf(record, adviseOnDatastore(record, name)),
    password: credentials.password,
    internal_host: internal.host,
    internal_port: internal.port,
    internal_url: connectionString(kind, credentials, internal),
    external_url: external && connectionString(kind, credentials, external),
    backup_keep_days: record.backup_keep_days ?? null,
    backup_place: record.backup_place ?? null,
    next_backup_at: nextBackupAt(record),
    shared_network: storage.datastores.isShared(id),
    upgrade: upgradeOf(record),
    former: formerOf(storage, record),
  })
}

export function readDatastore(context: HttpContext, idOrName: string): Datastore {
  return toDatastore(context, findDatastore(context.storage, idOrName))
}

/** The version before the newest upgrade; null once its volume is no longer kept. */
export function keptVersion({ actors }: Storage, { former }: DatastoreRecord): DatastoreContext['former'] {
  if (!former) return null
  const { removal_id: removalId, switched_at: switchedAt, version, volume } = former
  const status = actors.record(removalId)?.status ?? ''
  const isKept = ['measuring', 'trashed', 'restored'].includes(status)
  return isKept ? { version, volume, removalId, switchedAt } : null
}

function upgradeOf({ upgrade }: DatastoreRecord): Datastore['upgrade'] {
  if (!upgrade) return null
  const { error_details: _, ...shown } = upgrade
  return shown
}

function formerOf(storage: Storage, record: DatastoreRecord): Datastore['former'] {
  const kept = keptVersion(storage, record)
  if (kept === null) return null
  const removal = storage.actors.record<'disk-removal'>(kept.removalId)
  const expires_at = removal?.status === 'restored' ? null : (removal?.expires_at ?? null)
  return { version: kept.version, switched_at: kept.switchedAt, expires_at }
}

/** Removes the password and connection strings for a caller that may not read secrets. */
export function redactedFor(caller: Caller | null, datastore: Datastore): Datastore {
  if (readsSecrets(caller)) return datastore
  return { ...datastore, password: null, internal_url: null, external_url: null }
}

export function nextBackupAt({
  backup_schedule: schedule,
  backups_since: since,
}: DatastoreRecord): string | null {
  return schedule === null ? null : (nextTime(schedule, new Date(since))?.toISOString() ?? null)
}
