// Datastores as the API returns them, and a fake server that has them.
// All have the same password, so that tests can search the output for it.
import type { TestContext } from 'node:test'
import type { Datastore } from '../../../src/api/datastore.ts'
import type { TrashEntry } from '../../../src/api/trash.ts'
import { startFakeBerth } from './berth.ts'
import { type FakeResponse, problem, type ReceivedRequest } from './fake-server.ts'

export const password = 'canary4f0d9a61b7'
const ago = (minutes: number) => new Date(Date.now() - (minutes + 0.5) * 60_000).toISOString()

export function datastore(name: string, changes: Partial<Datastore> = {}): Datastore {
  return {
    id: `dst-${name}`,
    name,
    kind: 'postgres',
    version: '17',
    status: 'available',
    phase: null,
    error: null,
    notice: null,
    next_attempt_at: null,
    database: 'shop_db',
    username: 'ada',
    password,
    host_port: 25_001,
    internal_host: name,
    internal_port: 5432,
    internal_url: `postgresql://ada:${password}@${name}:5432/shop_db`,
    external_url: `postgresql://ada:${password}@127.0.0.1:25001/shop_db`,
    memory_limit_mb: null,
    cpu_limit: null,
    backup_schedule: null,
    backup_keep: 7,
    backup_keep_days: null,
    backup_place: null,
    next_backup_at: null,
    shared_network: false,
    upgrade: null,
    former: null,
    created_at: ago(180),
    updated_at: ago(180),
    revision: 1,
    by: null,
    ...changes,
  }
}

export const shop = datastore('shop-db')
export const cache = datastore('cache', {
  kind: 'redis',
  version: '8',
  database: null,
  username: 'default',
  host_port: 25_002,
  internal_port: 6379,
  memory_limit_mb: 256,
  cpu_limit: 8,
  notice: 'the host has 2 CPUs: cpu_limit 8 is capped at 2',
})
export const lost = datastore('lost', {
  status: 'failed',
  error: 'there is no image postgres:99',
  error_code: 'image_not_found',
  hint: 'if there is no such version, delete it and create it with another: berth db rm lost',
  version: '99',
  host_port: null,
  external_url: null,
  next_attempt_at: new Date(Date.now() + 150_500).toISOString(),
})
export const starting = datastore('starting', { status: 'creating', phase: 'pulling', host_port: null })
export const all = [cache, lost, shop, starting]

/** Deleted two hours ago and retained for two days. */
export function trashEntry(name: string, changes: Partial<TrashEntry> = {}): TrashEntry {
  return {
    id: `dst-${name}`,
    kind: 'datastore',
    name,
    status: 'kept',
    datastore_kind: 'postgres',
    version: '17',
    service_name: null,
    mount_path: null,
    backup_id: null,
    size_bytes: 48_000_000,
    deleted_at: ago(120),
    expires_at: new Date(Date.now() + 2 * 86_400_000 + 60_000).toISOString(),
    ...changes,
  }
}

/** Responds like the API. */
export function respond(requested: ReceivedRequest): FakeResponse {
  if (requested.path.endsWith('/trash')) return { body: [trashEntry('shop-db')] }
  const [, name] = /\/datastores\/([^/?]+)/.exec(requested.path) ?? []
  if (name === undefined) return { body: all }
  const found = all.find((one) => one.name === name || one.id === name)
  return found ? { body: found } : problem(404, 'not_found', 'there is no such datastore')
}

export const startFakeDatastores = (t: TestContext, response = respond) => startFakeBerth(t, response)
