// The services of the staged server, in every state, and what happened to them before the curtain rises.
import type { ServiceRow } from '../../../storage/services.ts'
import { sha } from '../machines/deploy-chart.ts'
import { hostile } from './hostile-texts.ts'
import type { Line, Scene } from './stories.ts'

const second = 1_000
export const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

export interface Act extends Scene {
  /** How long ago it was requested. */
  agoMs: number
  trigger?: 'create' | 'manual' | 'upload' | 'rollback' | 'restart'
  source?: 'git' | 'image' | 'archive' | 'reuse'
  by?: string
  /** Sent once it rests in `staysIn`. */
  hears?: { type: string; by?: string }
}

export interface Role extends Partial<ServiceRow> {
  name: string
  acts?: Act[]
  env?: Record<string, string>
  /** Set after the acts: saved, but not live yet. */
  saved?: Partial<ServiceRow>
}

const build: Line[] = [
  ['system', '#1 [internal] load build definition from Dockerfile', step(1, 'started')],
  ['system', '#1 done 0.1s', step(1, 'done')],
  ['system', '#2 [build 1/4] FROM node:20', step(2, 'started')],
  ['system', '#2 cached', step(2, 'cached')],
  ['system', '#3 [build 2/4] RUN npm ci', step(3, 'started')],
  ['stdout', '#3 added 212 packages in 4s', step(3)],
  ['system', '#3 done 4.1s', step(3, 'done')],
  ['system', '#4 [build 3/4] RUN npm run build', step(4, 'started')],
  ['stdout', '#4 \u001b[32m✓\u001b[0m 418 modules transformed.', step(4)],
]
const built: Line[] = [...build, ['system', '#4 done 6.2s', step(4, 'done')]]
const brokenBuild: Line[] = [
  ...build,
  ['stderr', "#4 src/cart.ts(12,7): error TS2322: Type 'string' is not assignable to 'number'.", step(4)],
  ['system', '#4 failed: exited with code 2', step(4, 'failed')],
]

function step(number: number, state?: string) {
  return { step: { number, ...(state && { state, name: 'RUN npm run build' }) } }
}

const logs: Record<string, Line[]> = {
  fetchSource: [['system', 'reading the repository without a credential']],
  buildImage: built,
  startInstances: [
    ['system', 'started 1 of 2'],
    ['system', 'started 2 of 2'],
  ],
  probeInstances: [['system', 'healthy: GET /healthz returned 200', { brief: 'GET /healthz returned 200' }]],
  switchTraffic: [['system', 'switched to the new version', { brief: 'to the new version' }]],
}
const usual = { awaitTurn: 400, fetchSource: 1_100, buildImage: 8_700, probeInstances: 6_000 }

function served(agoMs: number, commitMessage: string, more: Partial<Act> = {}): Act {
  const commitSha = (agoMs / 7).toString(16).replace('.', '').padEnd(40, sha).slice(0, 40)
  const returns = { fetchSource: { commitSha, commitMessage } }
  return { agoMs, staysIn: 'keepInstances', ms: usual, logs, returns, ...more }
}
function inPhase(slot: string, agoMs: number, more: Partial<Act> = {}): Act {
  return { ...served(agoMs, 'Read the price from the catalogue'), staysIn: slot, ...more }
}
function fails(slot: string, agoMs: number, code: string, message: string, more: Partial<Act> = {}): Act {
  const { staysIn: _, ...act } = served(agoMs, 'Send a receipt')
  return { ...act, fails: { slot, code, message }, ...more }
}
const unhealthy =
  'GET http://10.201.0.14:3000/healthz returned 503 for 5m; expected 2xx or 3xx (--health-path)'

export const roles: Role[] = [
  {
    name: 'shop',
    custom_domains: ['shop.example.com'],
    health_check_path: '/healthz',
    instances: 2,
    env: { DATABASE_URL: 'postgres://…', LOG_LEVEL: 'info' },
    saved: { memory_limit_mb: 1024, health_check_path: '/ready' },
    acts: [
      served(9 * day, 'Begin the shop', { trigger: 'create' }),
      served(5 * day, 'Show the stock of an article', { ms: { ...usual, buildImage: 9_300 } }),
      fails('buildImage', 3 * day, 'build_failed', 'RUN npm run build exited with code 2', {
        logs: { ...logs, buildImage: brokenBuild },
      }),
      served(2 * day, hostile.message, { by: hostile.token }),
      served(26 * hour, 'Fix the cart', { ms: { ...usual, buildImage: 12_800 } }),
    ],
  },
  { name: 'api', acts: [served(4 * day, 'Limit the requests'), inPhase('buildImage', 10 * second)] },
  {
    name: 'worker',
    type: 'background_worker',
    degraded: true,
    acts: [served(3 * day, 'Retry a failed mail')],
  },
  {
    name: 'blog',
    health_check_path: '/healthz',
    acts: [
      served(8 * day, 'Write about spring'),
      fails('probeInstances', 3 * minute, 'health_check_failed', unhealthy),
    ],
  },
  {
    name: 'landing',
    type: 'static_site',
    publish_dir: 'dist',
    acts: [
      fails('buildImage', 40 * minute, 'build_failed', hostile.error, {
        trigger: 'create',
        logs: { ...logs, buildImage: [...brokenBuild, ...hostile.lines] },
      }),
    ],
  },
  { name: 'legacy', acts: [served(30 * day, 'Move to the new logo')], saved: { suspended: true } },
  { name: 'old', acts: [served(60 * day, 'The last of its kind')], saved: { deleting: true } },
  { name: 'draft' },
  { name: 'queued', acts: [inPhase('awaitTurn', 4 * second, { trigger: 'create' })] },
  { name: 'fetching', acts: [inPhase('fetchSource', 5 * second, { trigger: 'create' })] },
  {
    name: 'slot',
    acts: [inPhase('buildImage', 30 * second, { trigger: 'create', hears: { type: 'build.queued' } })],
  },
  { name: 'pulling', image: 'redis:7', acts: [inPhase('pullImage', 3 * second, { source: 'image' })] },
  {
    name: 'preparing',
    pre_deploy_command: hostile.command,
    acts: [inPhase('runPreDeploy', 14 * second)],
  },
  {
    name: 'starting',
    acts: [inPhase('startInstances', 12 * second, { source: 'archive', trigger: 'upload' })],
  },
  {
    name: 'checking',
    acts: [
      served(day, 'Find orders by customer'),
      inPhase('probeInstances', 20 * second, {
        logs: {
          ...logs,
          probeInstances: [['system', 'waiting: GET /healthz returned 503', { brief: '503' }]],
        },
      }),
    ],
  },
  { name: 'switching', acts: [inPhase('switchTraffic', 19 * second)] },
  {
    name: 'withdrawn',
    acts: [
      served(2 * hour, 'Add a footer'),
      inPhase('buildImage', 30 * minute, { hears: { type: 'cancel', by: 'ada@example.com' } }),
    ],
  },
  { name: 'parked', acts: [inPhase('switchTraffic', hour)] },
  {
    name: 'returned',
    acts: [
      served(9 * hour, 'Use two workers'),
      served(8 * hour, 'Use four workers'),
      { ...served(7 * hour, ''), trigger: 'rollback', source: 'reuse' },
      { ...served(6 * hour, ''), trigger: 'restart', source: 'reuse' },
    ],
  },
  {
    name: 'nightly',
    type: 'cron_job',
    schedule: '0 3 * * *',
    timezone: 'Europe/Berlin',
    overlap: 'skip',
    acts: [{ ...served(6 * day, 'Report the sales'), trigger: 'create' }],
  },
  { name: `a-${'very-'.repeat(9)}long-name`, acts: [served(11 * day, hostile.message)] },
]

/** The runs of `nightly`. */
export const runs: (Scene & { agoMs: number; command: string | null; trigger: 'manual' | 'schedule' })[] = [
  { agoMs: 2 * day, command: null, trigger: 'schedule', ms: { followRun: 42 * second } },
  {
    agoMs: day,
    command: hostile.command,
    trigger: 'manual',
    logs: { followRun: [...hostile.lines] },
    returns: {
      followRun: { exitCode: 3, trouble: 'exited with code 3', code: 'job_failed' },
    },
  },
  {
    agoMs: 25 * second,
    command: null,
    trigger: 'schedule',
    staysIn: 'followRun',
    logs: { followRun: ['Reading 12,300 orders', 'Writing report.csv'] },
  },
  { agoMs: 20 * second, command: 'npm run report', trigger: 'manual', staysIn: 'awaitTurn' },
]

export const certificates: (Scene & { host: string; agoMs: number })[] = [
  { host: 'shop.example.com', agoMs: 30 * day, staysIn: 'keepWatch' },
  {
    host: 'shop.example.org',
    agoMs: hour,
    staysIn: 'keepWatch',
    returns: {
      obtainCertificate: {
        validity: null,
        trouble: {
          code: 'acme_challenge_failed',
          message: hostile.error,
          hint: 'point shop.example.org at this server',
          retryAt: null,
        },
      },
    },
  },
]
