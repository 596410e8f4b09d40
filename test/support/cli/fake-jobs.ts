// Job runs and a schedule as the API returns them, and a fake server that has them.
// `nightly` is a cron job, `shop` is not, and `fresh` has never been deployed.
import type { TestContext } from 'node:test'
import type { JobRun } from '../../../src/api/job.ts'
import type { Schedule } from '../../../src/api/schedule.ts'
import { startFakeBerth } from './berth.ts'
import { type FakeResponse, problem, type ReceivedRequest } from './fake-server.ts'

const atOf = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()
const ago = (minutes: number) => atOf(-(minutes + 0.5) * 60)

export function jobRun(suffix: string, changes: Partial<JobRun> = {}): JobRun {
  return {
    id: `job-01k5yq0v3nhx8m2r7c9d4f${suffix}`,
    service_id: 'svc-nightly',
    deploy_id: 'dep-01k5yq0v3nhx8m2r7c9d4f6gbt',
    command: './nightly --all',
    image: 'berth/nightly:dep-1',
    status: 'succeeded',
    trigger: 'manual',
    scheduled_for: null,
    overlap: 'skip',
    timeout_seconds: 86_400,
    exit_code: 0,
    error: null,
    created_at: ago(180),
    started_at: '2026-11-22T01:59:00.000Z',
    finished_at: '2026-11-22T02:00:04.000Z',
    revision: 1,
    by: null,
    ...changes,
  }
}

export const succeeded = jobRun('good')
export const failed = jobRun('fail', {
  status: 'failed',
  trigger: 'schedule',
  scheduled_for: '2026-11-22T02:00:00.000Z',
  exit_code: 3,
  error: 'exited with code 3',
})
export const running = jobRun('runs', {
  status: 'running',
  command: null,
  exit_code: null,
  started_at: ago(180),
  finished_at: null,
})
export const pending = jobRun('wait', {
  status: 'pending',
  command: `${'x'.repeat(300)}\nsecond line`,
  exit_code: null,
  started_at: null,
  finished_at: null,
})
export const runs = [pending, running, succeeded, failed]

export const schedule: Schedule = {
  schedule: '0 3 * * *',
  timezone: 'Europe/Berlin',
  overlap: 'skip',
  status: 'waiting',
  error: null,
  next: [1, 2, 3, 4, 5].map((day) => `2099-01-0${day}T02:00:00.000Z`),
  last_run: failed,
  last_skip: {
    scheduled_for: '2025-11-21T02:00:00.000Z',
    at: '2025-11-21T02:00:00.000Z',
    reason: `${failed.id} had not ended`,
  },
}

export const services = {
  nightly: { type: 'cron_job', schedule: '0 3 * * *', timezone: 'Europe/Berlin', live_deploy_id: 'dep-1' },
  shop: { type: 'web_service', schedule: null, timezone: null, live_deploy_id: 'dep-2' },
  fresh: { type: 'cron_job', schedule: '@daily', timezone: null, live_deploy_id: null },
}

/** Responds like the API. */
export function respond({ path }: ReceivedRequest): FakeResponse {
  const [, noun, name = '', part] = /\/api\/v1\/(\w+)\/([^/?]+)(?:\/(\w+))?/.exec(path) ?? []
  const service = services[name as keyof typeof services]
  if (noun !== 'services' || !service) return problem(404, 'not_found', 'there is no such service')
  if (part === 'jobs') return { body: name === 'nightly' ? runs : [] }
  if (part === 'schedule') return { body: schedule }
  return { body: { id: `svc-${name}`, name, ...service } }
}

type LogLine = [stream: string, line: string, about?: { mark: string }]

/** A complete log stream. */
export function logStream(...lines: LogLine[]): FakeResponse {
  const events = lines.map(([stream, line, about], index) => {
    const data = JSON.stringify({ ts: '2026-11-22T02:00:00.000Z', stream, line, ...about })
    return `id: ${index + 1}\nevent: log\ndata: ${data}\n\n`
  })
  return {
    body: `${events.join('')}event: end\ndata: \n\n`,
    headers: { 'content-type': 'text/event-stream' },
  }
}

/** Responds to the request of a run with a pending one, then with these log lines and the final record. */
export function runEndingAs(run: JobRun, ...lines: LogLine[]) {
  const started = { ...run, status: 'pending', exit_code: null, error: null, finished_at: null }
  return ({ method, path }: ReceivedRequest): FakeResponse => {
    if (method === 'POST') return { status: 202, body: started }
    return path.includes('/logs') ? logStream(...lines) : { body: run }
  }
}

export const startFakeJobs = (t: TestContext, response = respond) => startFakeBerth(t, response)
