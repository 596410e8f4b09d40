// Managed datastores. Handlers send events to the actor and wait for commits; they never change Docker.
import { z } from 'zod'
import type {
  DatastoreInput,
  UpgradePlan,
  VersionOnVolume,
} from '../../../machines/datastore/datastore-context.ts'
import type { DatastoreRecord } from '../../../machines/datastore/datastore-record.ts'
import type { RecordOf } from '../../../storage/actors/actors.ts'
import { newPassword } from '../../account/secrets.ts'
import {
  CreateDatastore,
  Datastore,
  DatastoreParams,
  DeleteDatastoreQuery,
  isReservedDatabase,
  isReservedRole,
  UpdateDatastore,
  UpgradeDatastore,
  UpgradeEstimate,
  UpgradeEstimateQuery,
} from '../../api/datastore.ts'
import { folderPlace } from '../../domain/backup-files.ts'
import { codeOf, conflict, Failure, invalidField, messageOf } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { type Call, type CallById, del, get, patch, post, tagged } from '../pipeline/route.ts'
import {
  assertAvailable,
  findDatastore,
  keptVersion,
  readDatastore,
  redactedFor,
  toDatastore,
} from '../records/datastore-record.ts'
import { command, requesterOf } from '../records/requester.ts'
import { awaitRecord } from '../records/stored-record.ts'
import { trashExpiry, trashPlanFor } from '../records/trash-record.ts'
import { assertNotReferenced } from '../rules/env.ts'
import { adviseOnDatastore } from '../why/advice.ts'
import { recordRoutes } from './record-routes.ts'

const provisionTimeoutMs = 60_000
const limitsTimeoutMs = 30_000
const defaultBackupKeep = 7
const defaultVersions = { postgres: '17', redis: '8' } as const

type Updating = CallById<unknown, UpdateDatastore>
type Send = Parameters<HttpContext['actors']['send']>

export const datastoreRoutes = tagged('Datastores', [
  get('/datastores', {
    role: 'read',
    summary: 'Lists all datastores, by name',
    response: z.array(Datastore),
    handler({ context, caller }) {
      const { datastores, actors } = context.storage
      const records = datastores.list().map(({ id }) => actors.record<'datastore'>(id))
      return records
        .filter((record) => record !== null)
        .map((record) => redactedFor(caller, toDatastore(context, record)))
    },
  }),
  post('/datastores', {
    summary:
      'Creates a datastore and waits up to a minute for it; a failed one is also returned, with the reason',
    body: CreateDatastore,
    response: Datastore,
    status: 201,
    // A repetition under its key may come after its deletion.
    problems: ['name_taken', 'conflict', 'not_found'],
    replay: readDatastore,
    handler: createDatastore,
  }),
  ...recordRoutes('/datastores/{id}', {
    noun: 'a datastore',
    params: DatastoreParams,
    find: findDatastore,
    show: {
      response: Datastore,
      read: (context, id, caller) => redactedFor(caller, readDatastore(context, id)),
    },
    why: {
      advise: (datastore) => adviseOnDatastore(datastore, datastore.name),
      summary: 'Explains why a datastore is not available, and what to do about it',
    },
  }),
  patch('/datastores/{id}', {
    summary: 'Changes the limits of a datastore, without a restart',
    params: DatastoreParams,
    body: UpdateDatastore,
    response: Datastore,
    problems: ['conflict', 'docker_error', 'docker_unavailable'],
    handler: updateDatastore,
  }),
  del('/datastores/{id}', {
    summary: 'Deletes a datastore; its data and a final backup stay in the trash for a while',
    params: DatastoreParams,
    query: DeleteDatastoreQuery,
    problems: ['in_use', 'conflict'],
    handler: deleteDatastore,
  }),
  post('/datastores/{id}/restart', {
    summary: 'Restarts a datastore; a failed one is retried immediately',
    params: DatastoreParams,
    response: Datastore,
    status: 202,
    problems: ['conflict'],
    replay: readDatastore,
    handler: restartDatastore,
  }),
])

async function createDatastore(call: Call<unknown, unknown, CreateDatastore>): Promise<Datastore> {
  const { context, body, eventId } = call
  const { storage } = context
  const input = inputOf(context, body)
  // If a volume in the trash has this name, the datastore gets another volume name.
  const isNameUnused = storage.datastores.isFree(body.name) && !storage.datastores.hasVolume(body.name)
  if (isNameUnused) await context.observe.assertVolumeFree(body.name)
  const also = () => storage.datastores.insert(input.id, input.name, newPassword(), body.shared_network)
  const options = { also, by: requesterOf(call), eventId }
  await context.actors.spawn('datastore', input.id, input, options)
  const record = await awaitRecord<'datastore'>(storage, input.id, provisionTimeoutMs, isProvisioned)
  return toDatastore(context, record!)
}

function isProvisioned({ status }: DatastoreRecord): boolean {
  return status !== 'creating'
}

/** Throws `invalid_request` for fields that only Postgres has. */
function inputOf({ storage }: HttpContext, body: CreateDatastore): DatastoreInput {
  const { kind, name } = body
  if (kind === 'redis') assertNoPostgresNames(body)
  assertPlace(storage, body.backup_place)
  const database = kind === 'redis' ? null : (body.database ?? databaseOf(name))
  return {
    id: storage.ids.newId('dst'),
    name,
    kind,
    version: body.version ?? defaultVersions[kind],
    database,
    username: database === null ? 'default' : (body.username ?? userOf(database)),
    backups: {
      schedule: body.backup_schedule ?? null,
      keep: body.backup_keep ?? defaultBackupKeep,
      keepDays: body.backup_keep_days ?? null,
      place: body.backup_place ?? null,
    },
    memoryMb: body.memory_limit_mb ?? null,
    cpus: body.cpu_limit ?? null,
    at: new Date().toISOString(),
  }
}

/** The name of the datastore, adjusted to the rules of Postgres. */
function databaseOf(name: string): string {
  const database = name.replaceAll('-', '_')
  return isReservedDatabase(database) ? `db_${database}` : database
}

function userOf(database: string): string {
  return (isReservedRole(database) ? `user_${database}` : database).slice(0, 63)
}

function assertNoPostgresNames(body: CreateDatastore): void {
  const specified = (['database', 'username'] as const).filter((field) => body[field] !== undefined)
  const details = specified.map((path) => ({ path, code: 'invalid', message: 'Redis has none to choose' }))
  const [first] = details
  if (first) throw new Failure('invalid_request', `${first.path}: ${first.message}`, undefined, details)
}

/** Omitted or equal values change nothing. Resolves when the limits are applied. */
async function updateDatastore(call: Updating): Promise<Datastore> {
  const { context, params, body } = call
  const { storage } = context
  const datastore = findDatastore(storage, params.id)
  if (datastore.status === 'deleting') throw beingDeleted(datastore.name)
  await planBackups(call, datastore)
  const { shared_network: isShared } = body
  if (isShared !== undefined && isShared !== storage.datastores.isShared(datastore.id))
    await storage.datastores.share(datastore.id, isShared)
  const isPlanned = Object.values(planIn(body)).some((value) => value !== undefined)
  // An empty PATCH applies the stored limits again.
  const isLimited = hasLimits(call) || !(isPlanned || isShared !== undefined)
  return toDatastore(
    context,
    isLimited ? await limitDatastore(call, datastore) : findDatastore(storage, datastore.id),
  )
}

function hasLimits({ body }: Updating): boolean {
  return body.memory_limit_mb !== undefined || body.cpu_limit !== undefined
}

function changesOf<T extends object>(requested: T, known: T): Partial<T> {
  const isChanged = (key: string) => {
    const value = requested[key as keyof T]
    return value !== undefined && value !== known[key as keyof T]
  }
  return Object.fromEntries(Object.entries(requested).filter(([key]) => isChanged(key))) as Partial<T>
}

interface Plan {
  backup_schedule?: string | null | undefined
  backup_keep?: number | undefined
  backup_keep_days?: number | null | undefined
  backup_place?: string | null | undefined
}

function planIn(body: Plan) {
  const { backup_schedule: schedule, backup_keep: keep, backup_keep_days: keepDays } = body
  return { schedule, keep, keepDays, place: body.backup_place }
}

function assertPlace({ backupPlaces }: HttpContext['storage'], name: string | null | undefined): void {
  if (!name || name === folderPlace || backupPlaces.get(name)) return
  throw invalidField('backup_place', `there is no backup place '${name}'`, 'berth backup-places lists them')
}

async function planBackups(call: Updating, found: DatastoreRecord): Promise<void> {
  assertPlace(call.context.storage, call.body.backup_place)
  const known = planIn(found)
  const plan = changesOf(planIn(call.body), known)
  if (Object.keys(plan).length === 0) return
  const { applied } = await resumeAndSend(call.context, found, command(call, 'backups.set', plan))
  if (!applied) throw beingDeleted(found.name)
}

async function limitDatastore(call: Updating, found: DatastoreRecord): Promise<RecordOf<'datastore'>> {
  const { id, name } = found
  const revision = await setLimits(call, found)
  const settled = (await awaitRecord<'datastore'>(
    call.context.storage,
    id,
    limitsTimeoutMs,
    ({ limits, status }) => limits.settled >= revision || status === 'deleting',
  ))!
  if (settled.status === 'deleting') throw beingDeleted(name)
  assertLimitsApplied(settled)
  return settled
}

/** Resolves with the revision of the limits. Equal limits are applied again if they failed before. */
async function setLimits(call: Updating, found: DatastoreRecord): Promise<number> {
  const { memory_limit_mb: memoryMb, cpu_limit: cpus } = call.body
  const limits = changesOf({ memoryMb, cpus }, { memoryMb: found.memory_limit_mb, cpus: found.cpu_limit })
  const isSame = hasLimits(call) && Object.keys(limits).length === 0
  if (isSame && found.limits.trouble === null && found.status !== 'failed') return found.limits.revision
  const { applied, record } = await resumeAndSend(call.context, found, command(call, 'limits.set', limits))
  if (!applied) throw beingDeleted(found.name)
  return record.limits.revision
}

/** Throws if the limits were saved but not applied. The next start or PATCH applies them. */
function assertLimitsApplied({ name, limits: { revision, settled, trouble } }: DatastoreRecord): void {
  if (settled >= revision && trouble === null) return
  const { code, message } = trouble ?? { code: 'docker_unavailable', message: 'Docker does not respond' }
  const known = code === 'docker_unavailable' ? code : 'docker_error'
  throw new Failure(known, `limits of '${name}' saved, but applying them failed: ${message}`)
}

async function restartDatastore(call: CallById): Promise<Datastore> {
  const { context, params, eventId } = call
  const datastore = findDatastore(context.storage, params.id)
  const event = command(call, 'restart')
  const { applied, record } = await resumeAndSend(context, datastore, event, { eventId })
  if (record.status === 'upgrading') throw beingUpgraded(datastore.name)
  if (!applied) throw beingDeleted(datastore.name)
  return toDatastore(context, record)
}

async function deleteDatastore(call: CallById<DeleteDatastoreQuery>): Promise<undefined> {
  const { context, params, query } = call
  const datastore = findDatastore(context.storage, params.id)
  const { name, status } = datastore
  if (status === 'upgrading') throw beingUpgraded(name)
  if (!query.force && status !== 'deleting') {
    assertNotReferenced(
      context.storage,
      { noun: 'datastore', name },
      `berth db rm ${name} --force deletes it anyway`,
    )
  }
  const keep = trashPlanFor(context, query.purge)
  await resumeAndSend(context, datastore, command(call, 'delete', { keep }))
}

/** Resumes a parked actor first, so that even its datastore can be deleted. */
async function resumeAndSend(
  { actors }: HttpContext,
  { id, status }: DatastoreRecord,
  event: Send[1],
  options: Send[2] = {},
) {
  if (status === 'failed') await actors.spawn('datastore', id, {})
  return actors.send<'datastore'>(id, event, options)
}

function beingUpgraded(name: string): Failure {
  return conflict(`${name} is being upgraded`, `berth db show ${name}`)
}

function beingDeleted(name: string): Failure {
  return conflict(`${name} is being deleted`)
}

/** Dump, load and analysis on a small server; an idle one is several times as fast. */
const copiedBytesPerSecond = 10 * 1024 ** 2

/** Two starts and two stops. */
const restartSeconds = 15

type Found = ReturnType<typeof findDatastore>
type Upgrading = CallById<unknown, UpgradeDatastore>

export const upgradeRoutes = tagged('Datastores', [
  get('/datastores/{id}/upgrade', {
    role: 'read',
    summary: 'Estimates how long an upgrade of a Postgres keeps clients out',
    params: DatastoreParams,
    query: UpgradeEstimateQuery,
    response: UpgradeEstimate,
    problems: ['conflict', 'docker_unavailable', 'docker_error'],
    handler: estimateUpgrade,
  }),
  post('/datastores/{id}/upgrade', {
    summary: 'Moves a Postgres to a newer major version, or back to the version before that',
    description:
      'Moves a Postgres to a newer major version. Its data is copied while no client can connect; name, ' +
      'port and password stay. A failure before the switch reopens the former version. `back` returns to ' +
      'that version while its data is in the trash, without the writes since then.',
    params: DatastoreParams,
    body: UpgradeDatastore,
    response: Datastore,
    status: 202,
    problems: ['conflict'],
    replay: readDatastore,
    handler: upgradeDatastore,
  }),
  post('/datastores/{id}/upgrade/cancel', {
    summary: 'Stops the upgrade of a Postgres before the switch, and reopens the version that it had',
    params: DatastoreParams,
    response: Datastore,
    status: 202,
    problems: ['not_cancelable'],
    async handler(call) {
      const { context, params } = call
      const { id, name } = findDatastore(context.storage, params.id)
      const { applied, record } = await context.actors.send<'datastore'>(id, command(call, 'upgrade.cancel'))
      if (!applied) throw new Failure('not_cancelable', `no upgrade of ${name} can be canceled now`)
      return toDatastore(context, record)
    },
  }),
])

async function estimateUpgrade(call: CallById<UpgradeEstimateQuery>): Promise<UpgradeEstimate> {
  const { context, params, query } = call
  const datastore = findDatastore(context.storage, params.id)
  assertNewer(datastore, query.version)
  assertAvailable(datastore)
  const bytes = await context.observe.databaseBytes(datastore.id).catch((error: unknown) => {
    if (codeOf(error) !== 'upgrade_failed') throw error
    throw conflict(`${datastore.name} does not answer: ${messageOf(error)}`)
  })
  const downtime = restartSeconds + Math.ceil(bytes / copiedBytesPerSecond)
  return { from: datastore.version, to: query.version, size_bytes: bytes, downtime_seconds: downtime }
}

async function upgradeDatastore(call: Upgrading): Promise<Datastore> {
  const { context, params, body, eventId } = call
  const datastore = findDatastore(context.storage, params.id)
  const plan =
    body.version === undefined ? returnPlan(call, datastore) : upgradePlan(call, datastore, body.version)
  const event = command(call, 'upgrade', { plan })
  if (datastore.status === 'failed') await context.actors.spawn('datastore', datastore.id, {})
  const options = { eventId }
  const { applied, record } = await context.actors.send<'datastore'>(datastore.id, event, options)
  if (!applied || record.upgrade?.id !== plan.id) throw conflict(`${datastore.name} is busy`)
  return toDatastore(context, record)
}

function upgradePlan(call: Upgrading, datastore: Found, version: string): UpgradePlan {
  assertNewer(datastore, version)
  assertAvailable(datastore)
  assertNoTransfer(call, datastore)
  const id = call.context.storage.ids.newId('upg')
  return planOf(call, datastore, { id, to: { version, volume: id }, keptBy: null })
}

function returnPlan(call: Upgrading, datastore: Found): UpgradePlan {
  const { name, status } = datastore
  const kept = keptVersion(call.context.storage, datastore)
  if (kept === null) throw conflict(`there is no former version of ${name} to return to`)
  if (!['available', 'restarting', 'failed'].includes(status))
    throw conflict(`${name} is ${status}`, `berth db show ${name}`)
  assertNoTransfer(call, datastore)
  const id = call.context.storage.ids.newId('upg')
  return planOf(call, datastore, { id, to: kept, keptBy: kept.removalId })
}

function planOf(
  { context }: Upgrading,
  { id, name, version }: Found,
  { to: { version: toVersion, volume }, ...plan }: Pick<UpgradePlan, 'id' | 'to' | 'keptBy'>,
): UpgradePlan {
  const { datastores, ids } = context.storage
  const from: VersionOnVolume = { version, volume: datastores.volume(id) ?? name }
  const removal = { id: ids.newId('dsk'), expiresAt: trashExpiry(context, false) }
  return { ...plan, from, to: { version: toVersion, volume }, removal }
}

function assertNewer({ name, kind, version }: Found, wanted: string): void {
  if (kind === 'redis') throw invalidField('version', `${name} is a Redis; only a Postgres can be upgraded`)
  if (Number.parseInt(wanted, 10) > Number.parseInt(version, 10)) return
  throw invalidField('version', `${name} is Postgres ${version}: ${wanted} is not a newer major version`)
}

/** A copy would miss the data of a running restore, and the switch would cut off a backup. */
function assertNoTransfer({ context: { storage } }: Upgrading, { id, name }: Found): void {
  const { actors } = storage
  const isRunning = (kind: string) =>
    [...actors.active(kind, id)].some((actor) =>
      ['running', 'undoing'].includes(`${actors.record(actor.id)?.status}`),
    )
  for (const kind of ['restore', 'backup'])
    if (isRunning(kind)) throw conflict(`a ${kind} of ${name} is running`)
}
