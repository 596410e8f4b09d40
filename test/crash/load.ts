// The simulated users: each has one service after another and sends one request at a time.
// An expectation is recorded only when the request was acknowledged.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { App } from './app.ts'
import type { ApiRequest } from './client.ts'
import {
  deployAgain,
  deployNext,
  type Load,
  remember,
  repeatRequest,
  restart,
  rollBack,
  unexpected,
} from './deploy-actions.ts'
import type { ServiceEntry } from './ledger.ts'
import type { Chance } from './random.ts'

export interface User {
  app: App
  name: string
  hasDisk: boolean
  /** Never deletes its service, because only an old service has old images and deploys. */
  isLasting: boolean
}

type Act = (load: Load, service: ServiceEntry, chance: Chance) => Promise<void>

const pauseMs = { least: 30, most: 2500 }
const finishTimeoutMs = 10_000
const finished = ['live', 'deactivated', 'failed', 'canceled']
const deletionTimeoutMs = 120_000

/** Uses one service after another until the run ends. */
export async function useServices(load: Load, user: User, chance: Chance): Promise<void> {
  await user.app.release('good')
  while (!load.isOver()) {
    const service = await createService(load, user, chance)
    const actCount = user.isLasting ? Number.POSITIVE_INFINITY : chance.whole(3, 20)
    for (let done = 0; done < actCount && !load.isOver(); done++) {
      await actOnce(load, service, chance)
      if (chance.isTrue(0.4)) await untilFinished(load, service)
      await sleep(chance.between(pauseMs.least, pauseMs.most))
    }
    if (!load.isOver()) await deleteService(load, service, chance)
  }
}

/** Cancels active deploys of any service at random times. */
export async function cancelDeploys({ client, ledger, isOver }: Load, chance: Chance): Promise<void> {
  while (!isOver()) {
    await sleep(chance.between(500, 6000))
    const newest = [...ledger.deploys.values()].slice(-3)
    if (newest.length === 0) continue
    const entry = chance.pick(newest)
    const path = `/deploys/${entry.id}/cancel`
    const response = await client.request({ method: 'POST', path, key: randomUUID() })
    if (response.status === 200) entry.isCanceled = true
    else if (response.status !== 409 && response.status !== 404) unexpected(ledger, `POST ${path}`, response)
  }
}

/** Waits until the newest deploy has finished, or a timeout. */
async function untilFinished({ client, isOver }: Load, { id }: ServiceEntry): Promise<void> {
  for (const deadline = Date.now() + finishTimeoutMs; Date.now() < deadline && !isOver(); await sleep(200)) {
    const { body } = await client.request({ method: 'GET', path: `/services/${id}/deploys?limit=1` })
    if (finished.includes(body[0]?.status)) return
  }
}

async function actOnce(load: Load, service: ServiceEntry, chance: Chance): Promise<void> {
  if (service.wanted.suspended)
    return chance.isTrue(0.5) ? setSuspended(load, service, false) : changeEnv(load, service, chance)
  const name = chance.choose({
    deploy: 34,
    again: 8,
    restart: 12,
    back: 10,
    scale: 12,
    env: 14,
    suspend: 6,
    repeat: 14,
  })
  return acts[name](load, service, chance)
}

const acts: Record<'deploy' | 'again' | 'restart' | 'back' | 'scale' | 'env' | 'suspend' | 'repeat', Act> = {
  deploy: deployNext,
  again: deployAgain,
  restart,
  back: rollBack,
  async scale({ client, ledger }, service, chance) {
    if (service.hasDisk) return
    const instances = chance.whole(1, 3)
    const path = `/services/${service.id}/scale`
    const response = await client.request({ method: 'POST', path, body: { instances }, key: randomUUID() })
    if (response.status === 200) service.wanted.instances = instances
    else unexpected(ledger, `POST ${path}`, response)
  },
  env: (load, service, chance) => changeEnv(load, service, chance),
  suspend: (load, service) => setSuspended(load, service, true),
  async repeat(load, service, chance) {
    const serviceRequests = load.ledger.requests.filter((request) => request.service === service)
    if (serviceRequests.length > 0) await repeatRequest(load, chance.pick(serviceRequests))
  },
}

async function createService(load: Load, user: User, chance: Chance): Promise<ServiceEntry> {
  const { client, ledger } = load
  const env = [{ key: 'COLOR', value: `c${chance.whole(0, 999)}` }]
  const instances = user.hasDisk ? 1 : chance.whole(1, 2)
  const body = {
    name: user.name,
    ...user.app.settings,
    ...(chance.isTrue(0.4) ? { pre_deploy_command: 'sleep 0.5; echo migrated' } : {}),
    health_check_path: '/healthz',
    health_check_timeout_seconds: 60,
    drain_seconds: chance.whole(0, 2),
    instances,
    env,
    ...(user.hasDisk ? { disk_mount_path: '/data' } : {}),
  }
  const request = { path: '/services', body, key: randomUUID() }
  const response = await client.request({ method: 'POST', ...request })
  if (response.status !== 201)
    throw new Error(`no service: ${response.status} ${JSON.stringify(response.body)}`)
  const wanted = { instances, suspended: false, env: new Map(env.map(({ key, value }) => [key, value])) }
  const { app, name, hasDisk } = user
  const service = { id: response.body.id as string, name, app, hasDisk, wanted, isDeleted: false }
  ledger.services.push(service)
  const first = response.body.latest_deploy
  if (first) remember(load, service, 'create', request, first)
  // An uploaded app has nothing to deploy yet.
  else await deployNext(load, service, chance)
  return service
}

async function changeEnv({ client, ledger }: Load, service: ServiceEntry, chance: Chance): Promise<void> {
  const key = `KEY_${chance.whole(1, 5)}`
  const value = `value ${chance.whole(0, 1_000_000)} ä\n"`
  const isUnset = chance.isTrue(0.2)
  const body = isUnset ? { unset: [key] } : { set: [{ key, value }] }
  const path = `/services/${service.id}/env`
  const response = await client.request({ method: 'PATCH', path, body })
  if (response.status !== 200) return unexpected(ledger, `PATCH ${path}`, response)
  if (isUnset) service.wanted.env.delete(key)
  else service.wanted.env.set(key, value)
}

async function setSuspended(
  { client, ledger }: Load,
  service: ServiceEntry,
  suspended: boolean,
): Promise<void> {
  const path = `/services/${service.id}/${suspended ? 'suspend' : 'resume'}`
  const response = await client.request({ method: 'POST', path, key: randomUUID() })
  if (response.status === 200) service.wanted.suspended = suspended
  else unexpected(ledger, `POST ${path}`, response)
}

/** Deletes the service and waits until its name is free again. */
export async function deleteService(load: Load, service: ServiceEntry, chance: Chance): Promise<void> {
  const { client, ledger } = load
  const path = `/services/${service.id}`
  const request: ApiRequest = { method: 'DELETE', path: `${path}?delete_disk=true&purge=true` }
  const response = await client.request(request)
  // A repeated request finds nothing if the first one succeeded without a response.
  const isDone = response.status < 300 || (response.status === 404 && response.attempts > 1)
  if (!isDone) return unexpected(ledger, `DELETE ${path}`, response)
  service.isDeleted = true
  for (const deadline = Date.now() + deletionTimeoutMs; ; await sleep(chance.between(50, 150))) {
    const { status } = await client.request({ method: 'GET', path })
    if (status === 404) return
    if (Date.now() < deadline) continue
    ledger.addViolation(
      'a deleted service is removed',
      `${service.name} ${service.id} still exists after 2 min`,
    )
    return
  }
}
