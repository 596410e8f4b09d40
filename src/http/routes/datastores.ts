// Routes of managed Postgres and Redis.
import { z } from 'zod'
import {
  CreateDatastore,
  Datastore,
  DatastoreParams,
  DeleteDatastoreQuery,
  UpdateDatastore,
} from '../../api/datastore.ts'
import { UpgradeDatastore, UpgradeEstimate, UpgradeEstimateQuery } from '../../api/datastore-upgrade.ts'
import * as datastores from '../handlers/data/datastores.ts'
import * as upgrades from '../handlers/data/upgrades.ts'
import { del, get, patch, post, tagged } from '../pipeline/route.ts'
import { findDatastore, readDatastore, redactedFor } from '../records/datastore-record.ts'
import { adviseOnDatastore } from '../why/record-advice.ts'
import { historyRoute, whyRoute } from './record-routes.ts'

export const datastoreRoutes = tagged('Datastores', [
  get('/datastores', {
    role: 'read',
    summary: 'Lists all datastores, by name',
    response: z.array(Datastore),
    handler: datastores.listDatastores,
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
    handler: datastores.createDatastore,
  }),
  get('/datastores/{id}', {
    role: 'read',
    summary: 'Returns a datastore',
    params: DatastoreParams,
    response: Datastore,
    handler: ({ context, params, caller }) => redactedFor(caller, readDatastore(context, params.id)),
  }),
  patch('/datastores/{id}', {
    summary: 'Changes the limits of a datastore, without a restart',
    params: DatastoreParams,
    body: UpdateDatastore,
    response: Datastore,
    problems: ['conflict', 'docker_error', 'docker_unavailable'],
    handler: datastores.updateDatastore,
  }),
  del('/datastores/{id}', {
    summary: 'Deletes a datastore; its data and a final backup stay in the trash for a while',
    params: DatastoreParams,
    query: DeleteDatastoreQuery,
    problems: ['in_use', 'conflict'],
    handler: datastores.deleteDatastore,
  }),
  post('/datastores/{id}/restart', {
    summary: 'Restarts a datastore; a failed one is retried immediately',
    params: DatastoreParams,
    response: Datastore,
    status: 202,
    problems: ['conflict'],
    replay: readDatastore,
    handler: datastores.restartDatastore,
  }),
  get('/datastores/{id}/upgrade', {
    role: 'read',
    summary: 'Estimates how long an upgrade of a Postgres keeps clients out',
    params: DatastoreParams,
    query: UpgradeEstimateQuery,
    response: UpgradeEstimate,
    problems: ['conflict', 'docker_unavailable', 'docker_error'],
    handler: upgrades.estimateUpgrade,
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
    handler: upgrades.upgradeDatastore,
  }),
  post('/datastores/{id}/upgrade/cancel', {
    summary: 'Stops the upgrade of a Postgres before the switch, and reopens the version that it had',
    params: DatastoreParams,
    response: Datastore,
    status: 202,
    problems: ['not_cancelable'],
    handler: upgrades.cancelUpgrade,
  }),
  historyRoute('/datastores/{id}', {
    params: DatastoreParams,
    summary: 'Lists the transitions of a datastore: the first 10 and the last 500',
    find: findDatastore,
  }),
  whyRoute('/datastores/{id}', {
    params: DatastoreParams,
    summary: 'Explains why a datastore is not available, and what to do about it',
    find: findDatastore,
    advise: (datastore) => adviseOnDatastore(datastore, datastore.name),
  }),
])
