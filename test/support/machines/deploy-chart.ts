// Inputs and effects for tests of the deploy chart. All effects succeed by default.
import type { DeployInput } from '../../../machines/deploy/deploy-context.ts'
import type { TestEffect } from './machine-run.ts'

export const instant = '2026-01-01T00:00:00.000Z'
export const sha = 'a'.repeat(40)

export function deployInput(changes: Partial<DeployInput> = {}): DeployInput {
  const source = { kind: 'git' as const, repo_url: 'https://example.com/shop.git', branch: 'main' }
  return {
    id: 'dep-1',
    serviceId: 'svc-1',
    trigger: 'manual',
    source: { ...source, commit: null, image: null, deploy_id: null },
    clearCache: false,
    limits: { fetchMs: 600_000, buildMs: 3_600_000, startMs: 120_000 },
    at: instant,
    ...changes,
  }
}

export const grantedTurn = {
  at: instant,
  supersededBy: null,
  formerDeployId: 'dep-0',
  exclusive: false,
  preDeploy: false,
  onSchedule: false,
  checkMs: 300_000,
  settleMs: 5000,
  drainMs: 30_000,
  reused: null,
}

/** Every effect succeeds at once; `keepInstances` reports that another deploy is live. */
export function happyEffects(changes: Record<string, TestEffect> = {}): Record<string, TestEffect> {
  return {
    awaitTurn: async () => grantedTurn,
    fetchSource: async () => ({ at: instant, commitSha: sha, commitMessage: 'Fix the login' }),
    buildImage: async () => ({ at: instant, image: 'berth/shop:dep-1' }),
    pullImage: async ({ source }) => ({ at: instant, image: 'berth/shop:dep-1', source }),
    runPreDeploy: async () => ({ at: instant }),
    startInstances: async () => ({ at: instant, port: 3000, portSource: 'default' }),
    probeInstances: async ({ port }) => ({ at: instant, port, portSource: 'default', healthCheck: 'port' }),
    switchTraffic: async () => ({ at: instant }),
    keepInstances: async () => ({ at: instant }),
    drainInstances: async () => ({ at: instant }),
    removeTraces: async () => ({ at: instant }),
    ...changes,
  }
}

export const failure = { code: 'build_failed', message: 'RUN npm ci exited with code 1', at: instant }

/** The slot that each state invokes. */
export const slotOf: Record<string, string> = {
  queued: 'awaitTurn',
  'running.fetching': 'fetchSource',
  'running.building': 'buildImage',
  'running.pulling': 'pullImage',
  'running.preparing': 'runPreDeploy',
  'running.starting': 'startInstances',
  'running.checking': 'probeInstances',
  'running.switching': 'switchTraffic',
  live: 'keepInstances',
  draining: 'drainInstances',
  failing: 'removeTraces',
  canceling: 'removeTraces',
}

/** A deploy of a pulled image with a pre-deploy command. */
export const imageInput = (): DeployInput => {
  const source = { ...deployInput().source, kind: 'image' as const, image: 'example.com/shop:v1' }
  return deployInput({ source: { ...source, repo_url: null, branch: null } })
}

export const imagePath = ['queued', 'running.pulling', 'running.preparing', 'running.starting']

export const happyPath = [
  'queued',
  'running.fetching',
  'running.building',
  'running.starting',
  'running.checking',
  'running.switching',
  'live',
  'draining',
  'deactivated',
]
