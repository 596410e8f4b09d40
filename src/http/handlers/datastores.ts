// Managed datastores. Handlers speak to the actor and wait for what is committed; they never change Docker.
import type { DatastoreRecord } from '../../../machines/datastore.ts'
import type { DatastoreInput } from '../../../machines/datastore-context.ts'
import type { Recorded } from '../../../storage/actors.ts'
import { newPassword } from '../../account/secrets.ts'
import { Failure } from '../../errors.ts'
import { awaitRecord } from '../awaited-record.ts'
import { byOf, command } from '../by.ts'
import type { HttpContext } from '../context.ts'
import { findDatastore, shownTo, toDatastore } from '../datastore-record.ts'
import { refuseReferred } from '../references.ts'
import type { Call } from '../route.ts'
import {
  type CreateDatastore,
  type Datastore,
  type DatastoreParams,
  type DeleteDatastoreQuery,
  isReservedDatabase,
  isReservedRole,
  type UpdateDatastore,
} from '../schemas/datastore.ts'
import type { HistoryEntry } from '../schemas/deploy.ts'
import { planOf } from '../trash-record.ts'

type Shown = DatastoreRecord & Recorded

/** How long a creation waits for it to serve, or to fail. */
const provisionMs = 60_000
const limitsMs = 30_000
const backupsKept = 7
const defaultVersions = { postgres: '17', redis: '8' } as const

/** By name. */
export function listDatastores({ context, caller }: Call): Datastore[] {
  const { datastores, actors } = context.storage
  const records = datastores.list().map(({ id }) => actors.record(id) as unknown as Shown)
  return records
    .filter((record) => record !== null)
    .map((record) => shownTo(caller, toDatastore(context, record)))
}

export function getDatastore({ context, params, caller }: Call<DatastoreParams>): Datastore {
  return shownTo(caller, toDatastore(context, findDatastore(context.storage, params.id)))
}

export function datastoreHistory({ context, params }: Call<DatastoreParams>): HistoryEntry[] {
  return context.storage.actors.history(findDatastore(context.storage, params.id).id)
}

export async function createDatastore(call: Call<unknown, unknown, CreateDatastore>): Promise<Datastore> {
  const { context, body, eventId } = call
  const { storage } = context
  const input = inputOf(context, body)
  // A volume in the trash may have this name: the datastore gets another one.
  const meetsNoOther = storage.datastores.isFree(body.name) && !storage.datastores.hasVolume(body.name)
  if (meetsNoOther) await context.observe.refuseVolume(body.name)
  const also = () => storage.datastores.insert(input.id, input.name, newPassword(), body.shared_network)
  const options = { also, by: byOf(call), ...(eventId ? { eventId } : {}) }
  await context.actors.spawn('datastore', input.id, input, options)
  const record = await awaitRecord<Shown>(storage, input.id, provisionMs, isProvisioned)
  return toDatastore(context, record)
}

/** What a repetition of a creation gets: the datastore as it is now. */
export function repeatDatastore(context: HttpContext, { id }: { id: string }): Datastore {
  return toDatastore(context, findDatastore(context.storage, id))
}

function isProvisioned({ status }: DatastoreRecord): boolean {
  return status !== 'creating'
}

/** Throws `invalid_request` for what only Postgres has. */
function inputOf({ storage }: HttpContext, body: CreateDatastore): DatastoreInput {
  const { kind, name } = body
  if (kind === 'redis') refuseNames(body)
  const database = kind === 'redis' ? null : (body.database ?? databaseOf(name))
  return {
    id: storage.ids.newId('dst'),
    name,
    kind,
    version: body.version ?? defaultVersions[kind],
    database,
    username: database === null ? 'default' : (body.username ?? userOf(database)),
    backups: { schedule: body.backup_schedule ?? null, keep: body.backup_keep ?? backupsKept },
    memoryMb: body.memory_limit_mb ?? null,
    cpus: body.cpu_limit ?? null,
    at: new Date().toISOString(),
  }
}

/** What is called as the datastore, where Postgres allows it. */
function databaseOf(name: string): string {
  const database = name.replaceAll('-', '_')
  return isReservedDatabase(database) ? `db_${database}` : database
}

function userOf(database: string): string {
  return (isReservedRole(database) ? `user_${database}` : database).slice(0, 63)
}

function refuseNames(body: CreateDatastore): void {
  const given = (['database', 'username'] as const).filter((field) => body[field] !== undefined)
  const details = given.map((path) => ({ path, code: 'invalid', message: 'Redis has none to choose' }))
  const [first] = details
  if (first) throw new Failure('invalid_request', `${first.path}: ${first.message}`, undefined, details)
}

type Updating = Call<DatastoreParams, unknown, UpdateDatastore>

/** What is left out stays as it is. Resolves when the newest limits are applied. */
export async function updateDatastore(call: Updating): Promise<Datastore> {
  const { context, params, body } = call
  const datastore = findDatastore(context.storage, params.id)
  const { shared_network: isShared } = body
  const isPlanned = await planBackups(call, datastore)
  if (isShared !== undefined) await context.storage.datastores.share(datastore.id, isShared)
  const isLimited = body.memory_limit_mb !== undefined || body.cpu_limit !== undefined
  if ((isPlanned || isShared !== undefined) && !isLimited)
    return toDatastore(context, findDatastore(context.storage, datastore.id))
  return limitDatastore(call, datastore)
}

/** Whether there was something to plan. */
async function planBackups(call: Updating, found: DatastoreRecord) {
  const { backup_schedule: schedule, backup_keep: keep } = call.body
  if (schedule === undefined && keep === undefined) return false
  const plan = { ...(schedule === undefined ? {} : { schedule }), ...(keep === undefined ? {} : { keep }) }
  const { applied } = await tell(call.context, found, command(call, 'backups.set', plan))
  if (!applied) throw beingDeleted(found.name)
  return true
}

async function limitDatastore(call: Updating, found: DatastoreRecord): Promise<Datastore> {
  const { context, body } = call
  const { id, name } = found
  const event = command(call, 'limits.set', {
    ...(body.memory_limit_mb === undefined ? {} : { memoryMb: body.memory_limit_mb }),
    ...(body.cpu_limit === undefined ? {} : { cpus: body.cpu_limit }),
  })
  const { applied, record } = await tell(context, found, event)
  if (!applied) throw beingDeleted(name)
  const { revision } = (record as unknown as DatastoreRecord).limits
  const settled = await awaitRecord<Shown>(
    context.storage,
    id,
    limitsMs,
    ({ limits, status }) => limits.settled >= revision || status === 'deleting',
  )
  if (settled.status === 'deleting') throw beingDeleted(name)
  refuseUnapplied(settled)
  return toDatastore(context, settled)
}

/** The value stays saved: it is applied with the next start, or with the next PATCH. */
function refuseUnapplied({ name, limits: { revision, settled, trouble } }: DatastoreRecord): void {
  if (settled >= revision && trouble === null) return
  const { code, message } = trouble ?? { code: 'docker_unavailable', message: 'Docker does not answer' }
  const known = code === 'docker_unavailable' ? code : 'docker_error'
  throw new Failure(known, `limits of '${name}' saved, but applying them failed: ${message}`)
}

export async function restartDatastore(call: Call<DatastoreParams>): Promise<Datastore> {
  const { context, params, eventId } = call
  const found = findDatastore(context.storage, params.id)
  const event = command(call, 'restart')
  const { applied, record } = await tell(context, found, event, eventId ? { eventId } : {})
  if (!applied) throw beingDeleted(found.name)
  return toDatastore(context, record as unknown as Shown)
}

export async function deleteDatastore(call: Call<DatastoreParams, DeleteDatastoreQuery>): Promise<undefined> {
  const { context, params, query } = call
  const found = findDatastore(context.storage, params.id)
  const { name, status } = found
  if (!query.force && status !== 'deleting') {
    refuseReferred(
      context.storage,
      { noun: 'datastore', name },
      `berth db rm ${name} --force deletes it anyway`,
    )
  }
  const keep = planOf(context, query.purge)
  await tell(context, found, command(call, 'delete', { keep }))
}

type Send = Parameters<HttpContext['actors']['send']>

/** One that was parked after a bug goes on first: else nothing could delete it. */
async function tell(
  { actors }: HttpContext,
  { id, status }: DatastoreRecord,
  event: Send[1],
  options: Send[2] = {},
) {
  if (status === 'failed') await actors.spawn('datastore', id, {})
  return actors.send(id, event, options)
}

function beingDeleted(name: string): Failure {
  return new Failure('conflict', `${name} is being deleted`)
}
