// Moves a Postgres to another major version, and back. The actor of the datastore carries it out.
import type { UpgradePlan, VersionOnVolume } from '../../../machines/datastore/datastore-context.ts'
import { Datastore, DatastoreParams } from '../../api/datastore.ts'
import { UpgradeDatastore, UpgradeEstimate, UpgradeEstimateQuery } from '../../api/datastore-upgrade.ts'
import { codeOf, conflict, Failure, invalidField, messageOf } from '../../errors.ts'
import { type CallById, get, post, tagged } from '../pipeline/route.ts'
import {
  assertAvailable,
  findDatastore,
  keptVersion,
  readDatastore,
  toDatastore,
} from '../records/datastore-record.ts'
import { command } from '../records/requester.ts'
import { trashExpiry } from '../records/trash-record.ts'

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
