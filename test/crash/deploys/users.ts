// The simulated users: each has one service after another and sends one request at a time.
// An expectation is recorded only when the request was acknowledged.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer, Body } from '../../support/daemon/api.ts'
import type { Drill } from '../drill.ts'
import type { Chance } from '../random.ts'
import type { App, Flavor } from './apps.ts'

export interface ServiceEntry {
  id: string
  name: string
  app: App
  hasDisk: boolean
  /** After the last acknowledged requests. */
  wanted: { instances: number; suspended: boolean; env: Map<string, string> }
  /** Whether the deletion was acknowledged. */
  isDeleted: boolean
}

export interface DeployEntry {
  id: string
  service: ServiceEntry
  answer: Body
  kind: 'create' | 'manual' | 'upload' | 'restart' | 'rollback'
  askedCommit: string | null
  /** The target of a rollback. */
  askedDeploy: string | null
  /** The number of the app's versions at the time of the request. */
  versionsThen: number
  /** Whether its cancel was acknowledged. */
  isCanceled: boolean
}

/** What the users have, and what was acknowledged to them. */
export interface Book {
  drill: Drill
  services: ServiceEntry[]
  deploys: Map<string, DeployEntry>
}

export interface User {
  app: App
  hasDisk: boolean
  /** Never deletes its service, because only an old service has old images and deploys. */
  isLasting: boolean
}

type Act = (book: Book, service: ServiceEntry, chance: Chance) => Promise<void>

const pauseMs = { least: 30, most: 2500 }
const finishTimeoutMs = 10_000
const finished = ['live', 'deactivated', 'failed', 'canceled']

/** Uses one service after another until the run ends. */
export async function useServices(book: Book, user: User, chance: Chance): Promise<void> {
  const { drill } = book
  await user.app.release('good')
  while (!drill.isOver) {
    const service = await createService(book, user, chance)
    const actCount = user.isLasting ? Number.POSITIVE_INFINITY : chance.whole(3, 20)
    for (let done = 0; done < actCount && !drill.isOver; done++) {
      await actOnce(book, service, chance)
      if (chance.isTrue(0.4)) await untilFinished(drill, service)
      await sleep(chance.between(pauseMs.least, pauseMs.most))
    }
    if (!drill.isOver) await deleteService(book, service, chance.isTrue(0.4))
  }
}

/** Cancels active deploys of any service at random times. */
export async function cancelDeploys({ drill, deploys }: Book, chance: Chance): Promise<void> {
  while (!drill.isOver) {
    await sleep(chance.between(500, 6000))
    const newest = [...deploys.values()].slice(-3)
    if (newest.length === 0) continue
    const entry = chance.pick(newest)
    const mayBeRefused = ({ status }: Answer) => status === 409 || status === 404
    const path = `/deploys/${entry.id}/cancel`
    if (await drill.client.ask({ method: 'POST', path }, mayBeRefused)) entry.isCanceled = true
  }
}

/** Waits until the newest deploy has finished, or a timeout. */
async function untilFinished(drill: Drill, { id }: ServiceEntry): Promise<void> {
  for (const deadline = Date.now() + finishTimeoutMs; Date.now() < deadline && !drill.isOver; ) {
    const [newest] = await drill.client.get(`/services/${id}/deploys?limit=1`)
    if (finished.includes(newest?.status)) return
    await sleep(200)
  }
}

async function actOnce(book: Book, service: ServiceEntry, chance: Chance): Promise<void> {
  if (service.wanted.suspended)
    return chance.isTrue(0.5) ? setSuspended(book, service, false) : changeEnv(book, service, chance)
  const weights = { deploy: 34, again: 8, restart: 12, back: 10, scale: 12, env: 14, suspend: 6, repeat: 14 }
  return acts[chance.choose(weights)](book, service, chance)
}

const acts = {
  deploy: deployNext,
  /** Deploys an earlier commit, or the current state. */
  async again(book, service, chance) {
    const { versions } = service.app
    const sha = versions.length === 0 ? null : chance.pick(versions).sha
    await requestDeploy(book, service, 'manual', 'deploys', sha ? { commit: sha } : {})
  },
  restart: (book, service) => requestDeploy(book, service, 'restart', 'restart', undefined),
  /** Rolls back to any deploy of the service; the server refuses what cannot run again. */
  async back(book, service, chance) {
    const own = [...book.deploys.values()].filter((entry) => entry.service === service)
    if (own.length === 0) return
    await requestDeploy(book, service, 'rollback', 'rollback', { deploy_id: chance.pick(own).id })
  },
  async scale({ drill }, service, chance) {
    if (service.hasDisk) return
    const instances = chance.whole(1, 3)
    const path = `/services/${service.id}/scale`
    if (await drill.client.ask({ method: 'POST', path, body: { instances } }))
      service.wanted.instances = instances
  },
  env: changeEnv,
  suspend: (book, service) => setSuspended(book, service, true),
  async repeat({ drill: { client, ledger } }, _service, chance) {
    if (ledger.orders.length > 0) await client.repeat(chance.pick(ledger.orders))
  },
} satisfies Record<string, Act>

/** Releases the next version: committed or pushed and deployed, or uploaded. */
async function deployNext(book: Book, service: ServiceEntry, chance: Chance): Promise<void> {
  const { app } = service
  const version = await app.release(chance.choose<Flavor>({ good: 80, broken: 8, crashing: 12 }))
  const clear_cache = chance.isTrue(0.1)
  const archive = app.archive()
  if (!archive) return requestDeploy(book, service, 'manual', 'deploys', { clear_cache })
  const path = `deploys/upload?clear_cache=${clear_cache}`
  await requestDeploy(book, service, 'upload', path, archive, (id) => app.uploaded(id, version))
}

async function requestDeploy(
  book: Book,
  service: ServiceEntry,
  kind: DeployEntry['kind'],
  path: string,
  body: unknown,
  onAnswer: (deployId: string) => void = () => undefined,
): Promise<void> {
  const versionsThen = service.app.versions.length
  const mayBeRefused = (answer: Answer) => isRefusable(kind, service, answer)
  const answer = await book.drill.client.order(`/services/${service.id}/${path}`, body, { mayBeRefused })
  if (!answer) return
  onAnswer(answer.id)
  remember(book, service, { kind, answer, versionsThen }, body)
}

/** Nothing to restart or upload yet, or a version that cannot run again. */
function isRefusable(kind: DeployEntry['kind'], { app }: ServiceEntry, { status, body }: Answer): boolean {
  if (kind === 'restart') return status === 409
  if (kind === 'rollback') return status === 400 && /never live|was removed/.test(body.detail)
  return (
    kind === 'manual' && app.kind === 'archive' && status === 409 && /nothing to deploy/.test(body.detail)
  )
}

type Requested = Pick<DeployEntry, 'kind' | 'answer' | 'versionsThen'>

function remember(book: Book, service: ServiceEntry, requested: Requested, body: unknown): void {
  const { id } = requested.answer
  // A restart may return a deploy that is already queued.
  if (book.deploys.has(id)) return
  const { commit = null, deploy_id = null } = (body ?? {}) as Body
  const asked = { askedCommit: commit, askedDeploy: deploy_id }
  book.deploys.set(id, { id, service, ...requested, ...asked, isCanceled: false })
  book.drill.followers.follow(id)
}

async function createService(book: Book, { app, hasDisk }: User, chance: Chance): Promise<ServiceEntry> {
  const { name } = app
  const color = `c${chance.whole(0, 999)}`
  const instances = hasDisk ? 1 : chance.whole(1, 2)
  const body = {
    name,
    ...app.settings,
    ...(chance.isTrue(0.4) ? { pre_deploy_command: 'sleep 0.5; echo migrated' } : {}),
    health_check_path: '/healthz',
    health_check_timeout_seconds: 60,
    drain_seconds: chance.whole(0, 2),
    instances,
    env: [{ key: 'COLOR', value: color }],
    ...(hasDisk ? { disk_mount_path: '/data' } : {}),
  }
  const versionsThen = app.versions.length
  const idIn = ({ latest_deploy }: Body) => latest_deploy?.id
  const answer = await book.drill.client.order('/services', body, { idIn })
  if (!answer) throw new Error(`there is no service ${name}`)
  const wanted = { instances, suspended: false, env: new Map([['COLOR', color]]) }
  const service: ServiceEntry = { id: answer.id, name, app, hasDisk, wanted, isDeleted: false }
  book.services.push(service)
  const first = answer.latest_deploy
  if (first) remember(book, service, { kind: 'create', answer: first, versionsThen }, null)
  // An uploaded app has nothing to deploy yet.
  else await deployNext(book, service, chance)
  return service
}

async function changeEnv({ drill }: Book, service: ServiceEntry, chance: Chance): Promise<void> {
  const key = `KEY_${chance.whole(1, 5)}`
  const value = `value ${chance.whole(0, 1_000_000)} ä\n"`
  const isUnset = chance.isTrue(0.2)
  const body = isUnset ? { unset: [key] } : { set: [{ key, value }] }
  if (!(await drill.client.ask({ method: 'PATCH', path: `/services/${service.id}/env`, body }))) return
  if (isUnset) service.wanted.env.delete(key)
  else service.wanted.env.set(key, value)
}

async function setSuspended({ drill }: Book, service: ServiceEntry, suspended: boolean): Promise<void> {
  const path = `/services/${service.id}/${suspended ? 'suspend' : 'resume'}`
  if (await drill.client.ask({ method: 'POST', path })) service.wanted.suspended = suspended
}

/** Deletes the service and its disk, and waits until its name is free again. */
export async function deleteService({ drill }: Book, service: ServiceEntry, isPurged = true): Promise<void> {
  const { client } = drill
  await client.remove(`/services/${service.id}`, `delete_disk=true&purge=${isPurged}`, () => {
    service.isDeleted = true
  })
  const findActor = async (kind: string) => {
    const actors: Body[] = await client.get(`/actors?kind=${kind}&limit=500`)
    return actors.find(({ id, service_id }) => id === service.id || service_id === service.id)
  }
  while (await findActor('service-removal')) await sleep(50)
  // Without an instance there was no disk.
  for (let removal = await findActor('disk-removal'); removal; removal = await findActor('disk-removal'))
    await client.ask({ method: 'DELETE', path: `/trash/${removal.id}` }, ({ status }) => status === 404)
}
