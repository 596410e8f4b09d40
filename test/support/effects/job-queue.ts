// Job runs stored as rows that the test updates. The effects that start runs and await their turn are real.
import type { TestContext } from 'node:test'
import type { JobRunInput, JobRunRecord, Overlap } from '../../../machines/job-run.ts'
import { beginRun, type Clock, systemClock } from '../../../src/effects/cron-schedule/cron-schedule.ts'
import { createJobSlots } from '../../../src/effects/job-run/job-slots.ts'
import type { JobRunPorts } from '../../../src/effects/job-run/ports.ts'
import { awaitTurn } from '../../../src/effects/job-run/turn.ts'
import type { ActorPort } from '../../../src/effects/ports.ts'
import type { Logger } from '../../../src/logger.ts'
import type { Storage } from '../../../storage/index.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { until } from '../daemon/service.ts'
import { asAsked } from '../machines/job-chart.ts'
import { serviceRow, transitionOf } from '../storage/store-fixtures.ts'
import { silentLogger, temporaryStorage } from '../supervisor/supervision.ts'
import { standIn } from './stand-in.ts'

const neverAborted = new AbortController().signal

interface JobQueueOptions {
  service?: Partial<ServiceRow>
  /** The limit of concurrent runs. */
  slots?: number
  /** Resolves when the engine is ready. */
  engineReady?: Promise<object>
  isDeployed?: boolean
  /** The clock when a run starts; its scheduled time by default. */
  now?: string
}

const clockAt = (now: string): Clock => ({ ...systemClock, now: () => Date.parse(now) })

export async function openJobQueue(t: TestContext, options: JobQueueOptions = {}) {
  const storage = await temporaryStorage(t)
  const jobSlots = createJobSlots(options.slots ?? 10)
  const is = openRows(storage)
  const { actors, sent, spawned } = actorsOf(storage, is)
  const warned: unknown[] = []
  const logger = { ...silentLogger, warn: (fields: object) => void warned.push(fields) } as Logger
  const engineReady = () => options.engineReady ?? Promise.resolve({})
  const ports = standIn<JobRunPorts>({ storage, actors, jobSlots, logger, engineReady })
  const deploy = (id: string, command: string | null = 'npm run report') => goLive(storage, id, command)
  await storage.services.create(serviceRow({ type: 'cron_job', ...options.service }))
  if (options.isDeployed !== false) await deploy('dep-1')
  return {
    storage,
    jobSlots,
    is,
    deploy,
    sent,
    spawned,
    warned,
    /** Awaits the turn of a pending run. */
    ask: (
      id: string,
      overlap: Overlap | null = 'skip',
      { signal = neverAborted, command = null }: Asked = {},
    ) => awaitTurn(ports, { id, serviceId: 'svc-1', command, overlap }, signal),
    begin: async (runId: string, instant = '2026-01-01T03:00:00.000Z') => {
      const input = { id: 'sch-1', serviceId: 'svc-1', runId, instant, missed: null }
      return (await beginRun({ ...ports, clock: clockAt(options.now ?? instant) }, input)).skipped
    },
    change: (fields: Partial<ServiceRow>) =>
      storage.services.update('svc-1', (row) => ({ ...row, ...fields })),
    saidBy: (id: string) => saidBy(storage, id),
    /** Resolves when its log has a line. */
    untilSaid: (id: string) => until(`a line of ${id}`, async () => (await saidBy(storage, id)).length > 0),
  }
}

async function saidBy(storage: Storage, id: string): Promise<string[]> {
  await storage.logs.flush()
  return (await storage.logs.tail(id, 10)).map(({ line }) => line)
}

/** Creates a run or updates it. */
function openRows(storage: Storage) {
  const revisions = new Map<string, number>()
  return async (id: string, status: JobRunRecord['status'], changes: Changes = {}): Promise<void> => {
    const { final = false, ...fields } = changes
    const revision = (revisions.get(id) ?? 0) + 1
    revisions.set(id, revision)
    const before = storage.actors.record(id) ?? { ...asAsked, scheduled_for: null }
    const record = { ...before, ...fields, id, status }
    const service_id = record.service_id as string
    const transition = transitionOf({ id, kind: 'job-run', revision, final, service_id }, { status })
    const whole = { ...transition, record }
    await (revision === 1 ? storage.actors.create(whole) : storage.actors.advance(whole))
  }
}

/**
 * Records the calls of effects to other actors. A cancel is stored, but the canceled run does not end yet.
 */
function actorsOf(storage: Storage, is: ReturnType<typeof openRows>) {
  const sent: [id: string, type: string, by: unknown][] = []
  const spawned: JobRunInput[] = []
  const actors: ActorPort = {
    async send(id, { type, by }) {
      sent.push([id, type, by])
      const applied = ['pending', 'running'].includes(String(storage.actors.record(id)?.status))
      if (applied) await is(id, 'canceled')
      return { applied }
    },
    async spawn(_kind, id, input) {
      const { serviceId, overlap } = input as JobRunInput
      spawned.push(input as JobRunInput)
      await is(id, 'pending', { service_id: serviceId, overlap })
    },
  }
  return { actors, sent, spawned }
}

async function goLive(storage: Storage, id: string, start_command: string | null): Promise<void> {
  const record = { id, service_id: 'svc-1', status: 'live', image: `berth/shop:${id}` }
  await storage.actors.create({ ...transitionOf({ id }), record })
  const settings = { ...serviceRow(), start_command }
  await storage.releases.freeze(id, () => ({ settings, env: [], resolved: [] }))
  await storage.services.update('svc-1', (row) => ({ ...row, live_deploy_id: id }))
}

type Changes = Partial<JobRunRecord> & { final?: boolean }

interface Asked {
  signal?: AbortSignal
  command?: string | null
}
