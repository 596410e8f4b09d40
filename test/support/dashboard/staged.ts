// Deploys and job runs as a test wants to see them: their records, histories and logs are written, and
// nothing runs.
import type { Deploy } from '../../../src/api/deploy.ts'
import type { JobRun } from '../../../src/api/job.ts'
import type { Service } from '../../../src/api/service.ts'
import { settingsOf } from '../../../src/domain/service-settings.ts'
import type { Storage } from '../../../storage/index.ts'
import type { openSite } from './site.ts'

export interface Visit {
  /** A state of the chart. */
  state: string
  /** Since the visit before. */
  afterMs?: number
  event?: string
  /** What the record says from now on. */
  fields?: Partial<Deploy>
}

/** A step of an actor, as the deploys' `Visit`. */
type StagedRun = { command: string | null; visits: { state: string; fields?: Partial<JobRun> }[] }

export interface StagedLine {
  text: string
  stream?: 'stdout' | 'stderr' | 'system'
  /** Of a build. */
  step?: { number: number; state?: 'started' | 'cached' | 'done' | 'failed'; name?: string }
}

const statuses: Record<string, string> = {
  failing: 'failed',
  canceling: 'canceled',
  draining: 'deactivated',
  parked: 'failed',
}

export function stageDeploys(site: Awaited<ReturnType<typeof openSite>>) {
  const ask = async <Body>(path: string, body: object) =>
    (await site.call('POST', `/api/v1${path}`, { body })).body as Body
  return {
    create: (body: object) => ask<Service>('/services', { deploy: false, ...body }),
    deploy: (name: string) => ask<Deploy>(`/services/${name}/deploys`, {}),
    enter: (id: string, visits: Visit[], beganMs?: number) => enter(site.storage, id, visits, beganMs),
    /** A live deploy of what is saved now, with its release. Returns its id. */
    async live(service: Service, fields: Partial<Deploy> = {}): Promise<string> {
      const { id } = await ask<Deploy>(`/services/${service.name}/deploys`, {})
      const { releases, services, env } = site.storage
      const settings = settingsOf(services.get(service.id)!)
      await releases.freeze(id, () => ({ settings, env: env.get(service.id), resolved: null }))
      const at = new Date().toISOString()
      const done = { image: `berth/${service.name}:1`, started_at: at, finished_at: at, ...fields }
      await enter(site.storage, id, [{ state: 'running.switching' }, { state: 'live', fields: done }])
      return id
    },
    run: (service: Service, staged: StagedRun) => createRun(site.storage, service, staged),
    async log(id: string, lines: StagedLine[], isEnded = true): Promise<void> {
      for (const { text, stream = 'system', step } of lines)
        site.storage.logs.append(id, stream, text, undefined, step && { step })
      if (isEnded) await site.storage.logs.end(id)
    },
  }
}

/** Its history begins `beganMs` ago. */
async function enter(storage: Storage, id: string, visits: Visit[], beganMs = 30_000): Promise<void> {
  let at = Date.now() - beganMs
  for (const { state, afterMs = 1000, event = 'x', fields = {} } of visits) {
    at += afterMs
    const row = storage.actors.get(id)!
    const revision = row.revision + 1
    const before = storage.actors.record(id) as Deploy
    const [root = ''] = state.split('.')
    const phase = state.startsWith('running.') ? state.slice(8) : before.phase
    const status = statuses[root] ?? root
    const record = { ...before, status, phase, ...fields, revision }
    const service = state === 'live' ? { live_deploy_id: id, desired_deploy_id: id } : null
    const entry = { at: new Date(at).toISOString(), event, state, status, phase, by: null }
    await storage.actors.advance({ row: { ...row, revision }, record, entry, service, event: null })
  }
}

/** A job run that has gone through these states, one a second. Returns its id. */
async function createRun(storage: Storage, { id: serviceId }: Service, { command, visits }: StagedRun) {
  const id = storage.ids.newId('job')
  const began = Date.now() - visits.length * 1000
  const at = (second: number) => new Date(began + second * 1000).toISOString()
  const first = {
    id,
    service_id: serviceId,
    deploy_id: null,
    command,
    image: 'berth/shop:1',
    status: 'pending',
    trigger: 'manual',
    scheduled_for: null,
    overlap: null,
    timeout_seconds: 3600,
    exit_code: null,
    error: null,
    error_code: null,
    error_details: null,
    created_at: at(0),
    started_at: at(0),
    finished_at: null,
    by: null,
  }
  const row = { id, kind: 'job-run', service_id: serviceId, version: 1, snapshot: {}, restarts: 0, by: null }
  let record = { ...first, revision: 0 }
  for (const [index, { state, fields }] of visits.entries()) {
    const [root = ''] = state.split('.')
    const status = statuses[root] ?? root
    const revision = index + 1
    record = { ...record, status, ...(fields as object), revision }
    const entry = { at: at(index), event: 'x', state, status, phase: null, by: null }
    const next = { ...row, revision, final: false, parked: null }
    const transition = { row: next, record, entry, service: null, event: null }
    await (index === 0 ? storage.actors.create(transition) : storage.actors.advance(transition))
  }
  return id
}
