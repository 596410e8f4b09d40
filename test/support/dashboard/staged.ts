// Deploys and job runs as a test wants to see them: their records, histories and logs are written, and
// nothing runs.
import type { Deploy } from '../../../src/api/deploy.ts'
import type { Service } from '../../../src/api/service.ts'
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
