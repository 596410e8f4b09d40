// Requests deploys of every kind, and repeats requests. Acknowledged ones are recorded in the ledger.
import { randomUUID } from 'node:crypto'
import type { Body } from '../support/daemon/api.ts'
import type { App, Flavor } from './app.ts'
import type { ArchiveApp } from './archive-app.ts'
import type { Client } from './client.ts'
import type { DeployEntry, DeployRequest, Ledger, ServiceEntry } from './ledger.ts'
import type { Chance } from './random.ts'

export interface Load {
  client: Client
  ledger: Ledger
  /** Called for every acknowledged deploy. */
  onDeploy: (entry: DeployEntry) => void
  isOver: () => boolean
}

type Asked = Pick<DeployRequest, 'path' | 'key' | 'body'>

/** Releases the next version: committed or pushed and deployed, or uploaded. */
export async function deployNext(load: Load, service: ServiceEntry, chance: Chance): Promise<void> {
  const { app } = service
  const version = await app.release(chance.choose<Flavor>({ good: 80, broken: 8, crashing: 12 }))
  const cleared = chance.isTrue(0.1)
  const path = `/services/${service.id}/deploys`
  if (!isArchive(app)) return requestDeploy(load, service, 'manual', path, { clear_cache: cleared })
  const upload = `${path}/upload?clear_cache=${cleared}`
  await requestDeploy(load, service, 'upload', upload, app.archive(), (id) => app.uploaded(id, version))
}

/** Deploys an earlier commit, or the current state. */
export async function deployAgain(load: Load, service: ServiceEntry, chance: Chance): Promise<void> {
  const { app, id } = service
  if (app.versions.length === 0) return
  const { sha } = chance.pick(app.versions)
  await requestDeploy(load, service, 'manual', `/services/${id}/deploys`, sha ? { commit: sha } : {})
}

export function restart(load: Load, service: ServiceEntry): Promise<void> {
  return requestDeploy(load, service, 'restart', `/services/${service.id}/restart`, undefined)
}

/** Rolls back to any deploy of the service; the server refuses what cannot run again. */
export async function rollBack(load: Load, service: ServiceEntry, chance: Chance): Promise<void> {
  const serviceDeploys = [...load.ledger.deploys.values()].filter((entry) => entry.service === service)
  if (serviceDeploys.length === 0) return
  const deploy_id = chance.pick(serviceDeploys).id
  await requestDeploy(load, service, 'rollback', `/services/${service.id}/rollback`, { deploy_id })
}

/** Repeats a request with its key, which must return the same deploy. */
export async function repeatRequest(load: Load, request: DeployRequest): Promise<void> {
  const { kind, path, deployId, key, body, service } = request
  const response = await load.client.request({ method: 'POST', path, key, body })
  load.ledger.figures.duplicates++
  const again = kind === 'create' ? response.body.latest_deploy : response.body
  if (response.status < 300 && again?.id === deployId) return
  const text = `${kind} ${path} gave ${deployId}, then ${response.status} ${again?.id ?? response.body.code}`
  const responses = [
    `first answer: ${JSON.stringify(request.answer)}`,
    `then: ${JSON.stringify(response.body)}`,
  ]
  load.ledger.addViolation('the same key gives the same deploy', text, responses)
  // The unexpected deploy is tracked as well.
  if (response.status < 300 && again) rememberDeploy(load, service, request, again)
}

export function remember(
  load: Load,
  service: ServiceEntry,
  kind: DeployRequest['kind'],
  requested: Asked,
  answer: Body,
  versionsThen = service.app.versions.length,
): void {
  const request = { ...requested, service, kind, deployId: answer.id as string, answer, versionsThen }
  load.ledger.requests.push(request)
  rememberDeploy(load, service, request, answer)
}

export function unexpected(ledger: Ledger, what: string, response: { status: number; body: Body }): void {
  const text = `${what}: ${response.status} ${JSON.stringify(response.body)}`
  ledger.addViolation('responses follow the chart', text)
}

async function requestDeploy(
  load: Load,
  service: ServiceEntry,
  kind: DeployRequest['kind'],
  path: string,
  body: unknown,
  onAnswer: (deployId: string) => void = () => undefined,
): Promise<void> {
  const request = { path, body, key: randomUUID() }
  const versionsThen = service.app.versions.length
  const response = await load.client.request({ method: 'POST', ...request })
  if (response.status === 202) {
    onAnswer(response.body.id)
    remember(load, service, kind, request, response.body, versionsThen)
  } else if (!mayBeRefused(kind, service, response)) unexpected(load.ledger, `POST ${path}`, response)
}

/** Nothing to restart or upload yet, or a version that cannot run again. */
function mayBeRefused(kind: DeployRequest['kind'], { app }: ServiceEntry, { status, body }: AnswerSeen) {
  if (kind === 'restart') return status === 409
  if (kind === 'rollback') return status === 400 && /never live|was removed/.test(body.detail)
  return kind === 'manual' && isArchive(app) && status === 409 && /nothing to deploy/.test(body.detail)
}

interface AnswerSeen {
  status: number
  body: Body
}

function rememberDeploy(load: Load, service: ServiceEntry, request: DeployRequest, answer: Body): void {
  const { ledger, onDeploy } = load
  const id = answer.id as string
  // A restart may return a deploy that is already queued.
  if (ledger.deploys.has(id)) return
  const { commit, deploy_id } = (request.body ?? {}) as { commit?: string; deploy_id?: string }
  const { kind, versionsThen } = request
  const requested = { askedCommit: commit ?? null, askedDeploy: deploy_id ?? null, versionsThen }
  const entry = { id, service, answer, kind, ...requested, isCanceled: false }
  ledger.deploys.set(id, entry)
  onDeploy(entry)
}

function isArchive(app: App): app is ArchiveApp {
  return app.kind === 'archive'
}
