// Rows that tests put into a store, and raw access to its files.
// Raw access opens the files again, so the storage under test must be closed first.
import type { TestContext } from 'node:test'
import { type Database, type Key, open } from 'lmdb'
import type { SupervisorOptions } from '../../../src/supervisor/options.ts'
import type { ActorRow, Transition } from '../../../storage/actors/actors.ts'
import type { Storage } from '../../../storage/index.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { openStore, type Store } from '../../../storage/store/store.ts'
import { instant } from '../supervisor/supervision.ts'

function fail(reason: string): never {
  throw new Error(`the store panicked: ${reason}`)
}

/** A bare store, closed after the test. */
export function openTestStore(t: TestContext, directory: string): Store {
  const store = openStore(directory, { onPanic: fail })
  t.after(() => store.close())
  return store
}

export function serviceRow(changes: Partial<ServiceRow> = {}): ServiceRow {
  const code = { repo_url: 'https://example.com/shop.git', branch: 'main', image: null, root_dir: null }
  const build = { dockerfile_path: null, build_command: null, start_command: null, publish_dir: null }
  const health = { port: null, health_check_path: null, health_check_timeout_seconds: 300 }
  const cron = { schedule: null, timezone: null, overlap: null, timeout_seconds: null }
  const room = { disk_mount_path: null, memory_limit_mb: null, cpu_limit: null, custom_domains: [] }
  const life = { live_deploy_id: null, desired_deploy_id: null, degraded: false, deleting: false }
  return {
    id: 'svc-1',
    name: 'shop',
    type: 'web_service',
    spa_fallback: false,
    pre_deploy_command: null,
    build_env: [],
    build_target: null,
    build_args: {},
    submodule_owners: [],
    init: true,
    protocol: 'http',
    archive_deploy_id: null,
    ...code,
    ...build,
    ...health,
    ...cron,
    ...room,
    ...life,
    drain_seconds: 30,
    instances: 1,
    auto_deploy: true,
    watch_paths: [],
    suspended: false,
    hsts: false,
    request_timeout_seconds: 75,
    max_body_mb: 512,
    created_at: instant,
    updated_at: instant,
    revision: 1,
    ...changes,
  }
}

/** A transition of a deploy; its first one by default. */
export function transitionOf(
  row: Partial<ActorRow> & { id: string },
  rest: Partial<Omit<Transition, 'row' | 'record'>> & { status?: string } = {},
): Transition {
  const { status = 'queued', ...others } = rest
  const whole = { kind: 'deploy', service_id: 'svc-1', version: 1, revision: 1, snapshot: { value: status } }
  return {
    row: { ...whole, final: false, restarts: 0, parked: null, ...row },
    record: {
      id: row.id,
      service_id: row.service_id === undefined ? 'svc-1' : row.service_id,
      status,
      revision: row.revision ?? 1,
      by: null,
    },
    entry: { at: instant, event: 'created', state: status, status, phase: null, by: null },
    service: null,
    event: null,
    ...others,
  }
}

/** The same storage with some actor methods replaced. */
export function withActors(
  storage: SupervisorOptions['storage'],
  changes: Partial<Storage['actors']>,
): SupervisorOptions['storage'] {
  const changed = new Proxy(storage.actors, {
    get(target, name) {
      const found = Reflect.get(name in changes ? changes : target, name) as unknown
      return typeof found === 'function' ? found.bind(target) : found
    },
  })
  return { ...storage, actors: changed }
}

/** Every row of every table as stored: checksum and JSON. */
export async function rawTables(directory: string): Promise<Record<string, [unknown, string][]>> {
  return withRawStore(directory, (root) => {
    const names = [...root.getKeys()] as string[]
    const rowsOf = (name: string) =>
      [...openRaw(root, name).getRange()].map(({ key, value }): [unknown, string] => [key, value])
    return Object.fromEntries(names.map((name) => [name, rowsOf(name)]))
  })
}

/** Flips one bit of the last character but one of a stored value. */
export async function flipBit(directory: string, table: string, key: Key): Promise<void> {
  await withRawStore(directory, async (root) => {
    const rows = openRaw(root, table)
    const bytes = Buffer.from(rows.get(key)!)
    bytes[bytes.length - 2]! ^= 1
    await rows.put(key, bytes.toString())
  })
}

function openRaw(root: Database, name: string): Database<string> {
  return (root as ReturnType<typeof open>).openDB<string>({ name, encoding: 'string' })
}

async function withRawStore<T>(directory: string, work: (root: Database) => T | Promise<T>): Promise<T> {
  const root = open({ path: `${directory}/store`, encoding: 'string', maxDbs: 64 })
  try {
    return await work(root)
  } finally {
    await root.close()
  }
}
