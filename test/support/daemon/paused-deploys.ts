// One service per phase of a deploy. Each has a live version and a next deploy that waits in its phase
// until the test resumes all of them.

import type { GateServer } from '../docker/gate-server.ts'
import type { HoldingProxy } from '../docker/holding-proxy.ts'
import type { TestRegistry } from '../docker/registry.ts'
import { createRepository, type TestRepository } from '../git/repository.ts'
import type { Scope } from '../system/directory.ts'
import type { Api } from './api.ts'
import { dockerfile, finishedDeploy, pageApp, until } from './service.ts'

/** What pauses deploys: proxies in front of their dependencies, and a gate that their own programs poll. */
export interface DeployGates {
  api: Api
  engine: HoldingProxy
  git: HoldingProxy
  images: { registry: TestRegistry; door: HoldingProxy }
  gate: GateServer
  /** The folder whose repositories the git server serves. */
  root: string
}

export interface PausedService {
  phase: Phase
  name: string
  repository: TestRepository
  /** The page text before the deploy, and after it if that goes live. */
  former: string
  next: string
  /** The paused deploy. */
  id: string
}

const stop = /^POST \S+\/stop/
const update = /^POST \S+\/update/
const create = /^POST \S+\/containers\/create/

type Way = (holds: DeployGates, service: PausedService) => Promise<() => boolean>

/** How a deploy is paused in each phase. */
const ways = {
  draining: (holds, service) => atEngine(holds, service, stop),
  failing: (holds, service) => atEngine(holds, service, stop, 'CMD ["false"]'),
  switching: (holds, service) => atEngine(holds, service, update),
  checking: (holds, service) =>
    atGate(holds, service, {
      start_command: `${holds.gate.wait(service.next)}; exec httpd -f -p $PORT -h /www`,
    }),
  preparing: (holds, service) =>
    atGate(holds, service, { pre_deploy_command: holds.gate.wait(service.next) }),
  building: (holds, service) => atGate(holds, service, {}, `RUN ${holds.gate.wait(service.next)}`),
  async pulling({ api, images }, service) {
    const { registry, door } = images
    const layer = await newestLayer(registry, 'app', await registry.push('app:v1', service.next))
    door.hold(layer)
    service.id = await ask(api, service)
    return () => door.held(layer) > 0
  },
  async queued(holds, service) {
    const isBuilding = await atGate(holds, service, {}, `RUN ${holds.gate.wait(service.next)}`)
    await until('the deploy ahead', async () => isBuilding())
    service.id = await ask(holds.api, service)
    return () => true
  },
  starting: (holds, service) => atEngine(holds, service, create),
  async fetching({ api, git }, service) {
    service.repository.commit('Next', await pageApp(service.next))
    git.hold(/./)
    service.id = await ask(api, service)
    return () => git.held(/./) > 0
  },
  async live(_, service) {
    service.next = service.former
    return () => true
  },
} satisfies Record<string, Way>

export type Phase = keyof typeof ways
export const phases = Object.keys(ways) as Phase[]

/** The order matters: no phase blocks those after it, and those in one row are independent. */
const order: Phase[][] = [
  ['draining'],
  ['failing'],
  ['switching'],
  ['checking', 'preparing', 'building', 'pulling', 'queued'],
  ['starting'],
  ['fetching', 'live'],
]

/** Creates a service whose first version is live. */
export async function createPausedService(
  t: Scope,
  holds: DeployGates,
  phase: Phase,
): Promise<PausedService> {
  const { api, images, git, root } = holds
  const repository = createRepository(t, { root, name: phase })
  const former = `${phase}-0`
  repository.commit('First', await pageApp(former))
  if (phase === 'pulling') await images.registry.push('app:v1', former)
  const sources: { [Name in Phase]?: object } = {
    fetching: { repo_url: `http://127.0.0.1:${git.port}/${phase}` },
    pulling: { image: `127.0.0.1:${images.door.port}/app:v1` },
  }
  const source = sources[phase] ?? { repo_url: repository.directory }
  const service = await api.post('/services', {
    name: phase,
    type: 'web_service',
    drain_seconds: 0,
    ...source,
  })
  const { id } = await finishedDeploy(api, service.latest_deploy.id)
  return { phase, name: phase, repository, former, next: former, id }
}

/**
 * Resolves when the next deploy of each service waits in its phase; the new pages contain phase and round.
 */
export async function pauseDeploys(
  holds: DeployGates,
  services: PausedService[],
  round: number,
): Promise<void> {
  holds.gate.close()
  for (const row of order) {
    const now = services.filter(({ phase }) => row.includes(phase))
    await Promise.all(now.map((service) => holdDeploy(holds, service, `${service.phase}-${round}`)))
  }
}

/** Resumes everything. */
export function resumeDeploys({ engine, git, images, gate }: DeployGates): void {
  for (const door of [engine, git, images.door]) door.release()
  gate.open()
}

async function holdDeploy(holds: DeployGates, service: PausedService, next: string): Promise<void> {
  service.next = next
  const isHeld = await ways[service.phase](holds, service)
  await until(`the deploy to wait while it is ${service.phase}`, async () => isHeld())
}

async function ask(api: Api, { name }: PausedService): Promise<string> {
  return (await api.post(`/services/${name}/deploys`)).id
}

/** The request of what only this image has. A deploy does not wait long for what is asked before. */
async function newestLayer({ host }: TestRegistry, name: string, digest: string): Promise<RegExp> {
  const headers = { accept: 'application/vnd.docker.distribution.manifest.v2+json' }
  const response = await fetch(`http://${host}/v2/${name}/manifests/${digest}`, { headers })
  const { layers } = (await response.json()) as { layers: { digest: string }[] }
  return new RegExp(layers.at(-1)!.digest)
}

/** Waits for a response of the engine. */
async function atEngine(holds: DeployGates, service: PausedService, pattern: RegExp, ...lines: string[]) {
  const before = holds.engine.held(pattern)
  const app = await pageApp(service.next)
  const broken = { Dockerfile: await dockerfile(...lines), why: service.next }
  service.repository.commit('Next', lines.length > 0 ? broken : app)
  holds.engine.hold(pattern)
  service.id = await ask(holds.api, service)
  return () => holds.engine.held(pattern) > before
}

/** One of its own programs waits for the gate. */
async function atGate(
  { api, gate }: DeployGates,
  service: PausedService,
  settings: object,
  ...lines: string[]
) {
  await api.call('PATCH', `/services/${service.name}`, settings)
  service.repository.commit('Next', await pageApp(service.next, ...lines))
  service.id = await ask(api, service)
  return () => gate.hasAsked(service.next)
}
