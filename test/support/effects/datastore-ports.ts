// The ports of datastores: real storage, and an engine whose responses the test provides.
// Its server listens at the kind's usual port on a loopback address.
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { TestContext } from 'node:test'
import type { DatastoreRecord } from '../../../machines/datastore/datastore-record.ts'
import type { InstanceState } from '../../../src/docker/containers/instances.ts'
import type { Limits } from '../../../src/docker/containers/spec.ts'
import type { Command, Outcome } from '../../../src/docker/exec/exec.ts'
import { datastorePorts } from '../../../src/domain/datastore-urls.ts'
import type { DatastorePorts } from '../../../src/effects/datastore/kind.ts'
import { createInstanceEvents } from '../../../src/effects/engine/instance-events.ts'
import { transitionOf } from '../storage/store-fixtures.ts'
import { instant, silentLogger, temporaryStorage } from '../supervisor/supervision.ts'
import { testMac } from '../system/test-mac.ts'
import { standIn } from './stand-in.ts'

export const password = 'canary-4f0d9a61b7'
export const id = 'dst-1'
const mebibyte = 1024 * 1024

type Up = Pick<InstanceState, 'state' | 'restart' | 'memoryLimitBytes' | 'cpuLimit'>

/** Responses of the engine and the server, which a test may replace at any time. */
interface World {
  inspect(): Partial<InstanceState> | null
  run(command: Command): Partial<Outcome>
  limit(wanted: Limits): boolean
}

/** The state of a serving container with its limits. */
export const up: Up = {
  state: 'running',
  restart: 'unless-stopped',
  memoryLimitBytes: 512 * mebibyte,
  cpuLimit: 1,
}

const responses = { postgres: '1\n', redis: 'PONG\n' } as const

/** The outcome of the health command on a healthy server. */
export const well = (kind: 'postgres' | 'redis'): Partial<Outcome> => ({ stdout: responses[kind] })

export async function openDatastorePorts(
  t: TestContext,
  { kind = 'redis', ...fields }: Partial<DatastoreRecord> = {},
) {
  const storage = await temporaryStorage(t)
  const address = `127.${randomInt(1, 255)}.${randomInt(0, 255)}.${randomInt(1, 255)}`
  await storage.commit(() => storage.datastores.insert(id, 'shop', password))
  await storage.addresses.allocate(id, 0, { first: address, last: address })
  let revision = 0
  /** Stores these changes to the record. */
  const become = async (changes: Partial<DatastoreRecord>): Promise<void> => {
    const record = { ...recordOf(kind), ...storage.actors.record(id), ...changes }
    const row = { id, kind: 'datastore', service_id: null, revision: ++revision }
    const transition = { ...transitionOf(row), record: { ...record, id, status: record.status } }
    await (revision === 1 ? storage.actors.create(transition) : storage.actors.advance(transition))
  }
  await become(fields)
  const world: World = { inspect: () => up, run: () => well(kind), limit: () => true }
  const seen: Seen = { commands: [], limits: [], restarts: [] }
  const instanceEvents = createInstanceEvents()
  const { instances, datastores } = enginePorts(world, seen)
  // Wakes the upkeep continuously, so that tests need not wait for its interval.
  const nudging = setInterval(() => instanceEvents.publish({ deployId: id } as never), 5)
  t.after(() => clearInterval(nudging))
  const settings = {
    defaultMemoryLimitMb: 512,
    defaultCpuLimit: 1,
    pidsLimit: 64,
    datastoreBind: '127.0.0.1',
    datastorePorts: { first: 25_000, last: 25_999 },
  }
  const engine = { info: async () => ({ cpus: 2 }) }
  const owner = { prefix: 'berth', serverId: 'one', mac: testMac }
  const parts = {
    storage,
    settings,
    engine,
    owner,
    instances,
    datastores,
    instanceEvents,
    logger: silentLogger,
  }
  const ports = standIn<DatastorePorts>(parts)
  return { ports, storage, world, seen, become, serve: () => serve(t, address, datastorePorts[kind]) }
}

interface Seen {
  commands: Command[]
  limits: Limits[]
  restarts: string[]
}

function enginePorts(world: World, seen: Seen) {
  return {
    instances: {
      inspect: async () => world.inspect(),
      inspectExit: async () => world.inspect(),
      tail: async () => [{ line: `FATAL: it said ${password}` }],
      setRestart: async (_: string, policy: string) => void seen.restarts.push(policy),
    },
    datastores: {
      limit: async (_: string, wanted: Limits) => {
        seen.limits.push(wanted)
        return world.limit(wanted)
      },
      run: async (_: string, command: Command): Promise<Outcome> => {
        seen.commands.push(command)
        return { exitCode: 0, stdout: '', stderr: '', ...world.run(command) }
      },
    },
  }
}

/** Accepts connections until the test ends or the returned function is called. */
async function serve(t: TestContext, host: string, port: number): Promise<() => Promise<void>> {
  const server = createServer((socket) => socket.on('error', () => undefined).resume())
  server.listen(port, host)
  await once(server, 'listening')
  const close = () => new Promise<void>((resolve) => void server.close(() => resolve()))
  t.after(close)
  return close
}

function recordOf(kind: 'postgres' | 'redis'): DatastoreRecord {
  const isRedis = kind === 'redis'
  return {
    id,
    name: 'shop',
    kind,
    version: isRedis ? '7' : '15',
    status: 'available',
    phase: null,
    error: null,
    error_code: null,
    error_details: null,
    notice: null,
    database: isRedis ? null : 'shop',
    username: isRedis ? 'default' : 'ada',
    host_port: 25_001,
    memory_limit_mb: null,
    cpu_limit: null,
    limits: { revision: 1, settled: 1, trouble: null },
    backup_schedule: null,
    backup_keep: 7,
    backup_keep_days: null,
    backup_place: null,
    backups_since: '2026-01-01T00:00:00.000Z',
    upgrade: null,
    former: null,
    trash: null,
    deleting: false,
    failures: 0,
    next_attempt_at: null,
    created_at: instant,
    updated_at: instant,
  }
}
