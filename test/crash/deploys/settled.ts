// Waits until every deploy has ended, and reads the state from the API.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Api, Body } from '../../support/daemon/api.ts'
import { describeHistory, type HistoryLine } from '../histories.ts'
import type { Book, DeployEntry, ServiceEntry } from './users.ts'

/** A deploy in the API at the end; `record` is null if the daemon does not know it. */
export interface SettledDeploy {
  entry: DeployEntry
  record: Body | null
  history: HistoryLine[]
}

export interface SettledService {
  entry: ServiceEntry
  record: Body
  env: { key: string; value: string }[]
  /** All its deploys, from any source. */
  deployIds: string[]
}

export interface Settled {
  deploys: SettledDeploy[]
  /** Services that were not deleted. */
  services: SettledService[]
  recordOf(deployId: string): Body | null
}

/** A deploy stays `live`; the other states are final. */
const ends = ['live', 'deactivated', 'failed', 'canceled']
const settleMs = 150_000

/** Waits for every deploy to end; one that does not is a violation, with its history. */
export async function settle(api: Api, { drill, services, deploys: entries }: Book): Promise<Settled> {
  const deadline = Date.now() + settleMs
  const read = () => Promise.all([...entries.values()].map((entry) => readDeploy(api, entry)))
  let deploys = await read()
  while (!isSettled(deploys) && Date.now() < deadline) {
    await sleep(200)
    deploys = await read()
  }
  for (const deploy of deploys.filter((one) => !isEnded(one))) {
    const text = `${deploy.entry.id} stays ${deploy.history.at(-1)?.state}`
    drill.ledger.addViolation('every deploy comes to an end', text, await collectEvidence(api, deploy))
  }
  const kept = services.filter(({ isDeleted }) => !isDeleted)
  return {
    deploys,
    services: await Promise.all(kept.map((entry) => readService(api, entry))),
    recordOf: (id) => deploys.find(({ entry }) => entry.id === id)?.record ?? null,
  }
}

/** With several live deploys, the older ones are about to drain. */
function isSettled(deploys: SettledDeploy[]): boolean {
  const live = deploys.filter(({ record }) => record?.status === 'live')
  return deploys.every(isEnded) && new Set(live.map(({ entry }) => entry.service)).size === live.length
}

async function readDeploy(api: Api, entry: DeployEntry): Promise<SettledDeploy> {
  const { status, body } = await api.call('GET', `/deploys/${entry.id}`)
  if (status === 404) return { entry, record: null, history: [] }
  return { entry, record: body, history: await api.get(`/deploys/${entry.id}/history`) }
}

function isEnded({ record, history, entry }: SettledDeploy): boolean {
  // Another check reports a missing deploy of an existing service.
  if (record === null) return true
  const { state, status } = history.at(-1)!
  // The deploy may have moved on between the two requests.
  return !entry.service.isDeleted && ends.includes(state) && record.status === status
}

async function readService(api: Api, entry: ServiceEntry): Promise<SettledService> {
  const record = await api.get(`/services/${entry.id}`)
  const env = await api.get(`/services/${entry.id}/env`)
  const deploys: Body[] = await api.get(`/services/${entry.id}/deploys?limit=500`)
  return { entry, record, env, deployIds: deploys.map(({ id }) => id) }
}

/** The record of a deploy, its history and the end of its log. */
export async function collectEvidence(
  api: Api,
  { entry, record, history }: SettledDeploy,
): Promise<string[]> {
  const lines: string[] = []
  if (record) {
    for await (const { event, data } of api.events(`/deploys/${entry.id}/logs`))
      if (event === 'log') lines.push(`log: ${JSON.parse(data).line}`)
  }
  return [JSON.stringify(record), ...describeHistory(history), ...lines.slice(-15)]
}
