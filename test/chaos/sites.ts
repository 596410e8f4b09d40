// Two services behind the edge, with visitors. The one who owns them deploys new versions all the time.
// A visitor gets the page of the live version or of the next one, also while the daemon is away.
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type App, createApp } from '../crash/deploys/apps.ts'
import type { Drill } from '../crash/drill.ts'
import { hasWord, type Part, type PartKind } from '../crash/part.ts'
import type { Chance } from '../crash/random.ts'
import type { Api, Body } from '../support/daemon/api.ts'
import { ensureEngine } from '../support/docker/engine.ts'
import { baseImages } from '../support/docker/images.ts'
import { saveImage } from '../support/docker/namespace-engine.ts'
import { startRegistry } from '../support/docker/registry.ts'
import { haproxyImage } from '../support/docker/server-images.ts'
import { edgeArgs, portOf } from '../support/edge/edge.ts'

interface Site {
  app: App
  id: string
  /** All its deploys. */
  deployIds: string[]
  /** The index of the newest version of which the daemon has said that it is live. */
  newestLive: number
  visits: number
  /** Visits that failed while the edge or Docker was away. */
  excused: number
}

const names = ['site-one', 'site-two']
/** Disturbances of the edge carry this name. */
export const edge = 'edge'
/** The edge outlives the services and the daemon. */
export const isOfEdge = (text: string) => hasWord(text, ['edge', 'haproxy'])

const visitPauseMs = 40
const visitMs = 10_000
const settleMs = 150_000
/** Generous: a daemon that is killed all the time restores little in each of its lives. */
const backMs = 300_000
const ends = ['live', 'deactivated', 'failed', 'canceled']

export interface Sites extends Part {
  /** Resolves when visitors get the pages again. */
  untilServed(): Promise<void>
}

export const sites: Omit<PartKind, 'open'> & { open(drill: Drill): Promise<Sites> } = {
  daemonArgs: ({ edgeArgs }) => JSON.parse(edgeArgs!),
  async prepare(directory, isEnginePrivate) {
    const images = { ...(await baseImages()), haproxy: await haproxyImage() }
    for (const [name, image] of isEnginePrivate ? Object.entries(images) : [])
      await saveImage(await ensureEngine(), image, join(directory, `${name}.tar`))
    // Leaves the registry's program in the cache.
    const cleanups: (() => unknown)[] = []
    await startRegistry({ after: (cleanup) => void cleanups.unshift(cleanup) })
    for (const cleanup of cleanups) await cleanup()
    return { edgeArgs: JSON.stringify(await edgeArgs('container')) }
  },
  async open(drill) {
    const { scope, victim, chance } = drill
    const place = { scope, nonce: victim.prefix, registry: await startRegistry(scope) }
    const opened = names.map(async (name, index) => {
      const app = await createApp('git', name, place, chance.fork())
      await app.release('good')
      return openSite(drill, app, index + 1)
    })
    return openPart(drill, await Promise.all(opened))
  },
}

async function openSite({ client }: Drill, app: App, instances: number): Promise<Site> {
  const settings = { health_check_path: '/healthz', health_check_timeout_seconds: 60, drain_seconds: 1 }
  const body = { name: app.name, ...app.settings, ...settings, instances }
  const created = await client.order('/services', body, { idIn: ({ latest_deploy }) => latest_deploy?.id })
  const site: Site = {
    app,
    id: created!.id,
    deployIds: [created!.latest_deploy.id],
    newestLive: 0,
    visits: 0,
    excused: 0,
  }
  for (const deadline = Date.now() + settleMs; ; await sleep(50)) {
    const { status, error } = await client.get(`/deploys/${site.deployIds[0]}`)
    if (status === 'live') return site
    if (Date.now() > deadline || ends.includes(status))
      throw new Error(`the first deploy of ${app.name} is ${status}: ${error}`)
  }
}

function openPart(drill: Drill, all: Site[]): Sites {
  const { chance, client, ledger } = drill
  const port = portOf(JSON.parse(drill.prepared.edgeArgs!), '--http-port')
  const agent = new Agent({ keepAlive: true })
  const served = (isLive: boolean) =>
    Promise.all(all.map((site) => untilServed(drill, site, agent, port, isLive)))
  return {
    kills: { moments: { start: 0, status: 1, request: 0, any: 1 }, statuses: {}, rareShare: 0 },
    use: () => [
      ...all.map((site) => deployVersions(drill, site, chance.fork())),
      ...all.map((site) => visit(drill, site, agent, port)),
      ...all.map((site) => visit(drill, site, agent, port)),
    ],
    async outage() {
      return async () => void (await served(true))
    },
    rest: async () => void (await served(true)),
    untilServed: async () => void (await served(false)),
    async check(api) {
      for (const site of all) {
        for (const { id, status, error } of await settle(api, site)) {
          if (!ends.includes(status))
            ledger.addViolation('every deploy comes to an end', `${id} of ${site.app.name} is ${status}`)
          if (!site.deployIds.includes(id))
            ledger.addViolation('a request is executed once', `${id} of ${site.app.name}: ${status}`)
          if (['failed', 'canceled'].includes(status) && !/^superseded by/.test(error))
            ledger.addViolation('no deploy fails because of a kill', `${id} of ${site.app.name}: ${error}`)
        }
      }
    },
    checkRows: () => undefined,
    // Also while Docker restarts the edge.
    expectedErrors: [
      'the edge container had ended and was started again',
      'requests to the public ports may not reach this edge',
    ],
    loggedIds: () => all.flatMap(({ deployIds }) => deployIds),
    owns: (text) =>
      isOfEdge(text) || hasWord(text, [...names, ...all.flatMap(({ id, deployIds }) => [id, ...deployIds])]),
    async removeAll() {
      agent.destroy()
      for (const { id } of all) await client.remove(`/services/${id}`, 'delete_disk=true&purge=true')
    },
    figures: () =>
      all.map(({ app, visits, excused, deployIds }) => [
        app.name,
        `${visits} visits, ${excused} failed while the edge or Docker was away, ${deployIds.length} deploys`,
      ]),
    proofs: () => Object.fromEntries(all.map(({ app, visits }) => [`visits of ${app.name}`, visits])),
  }
}

async function settle(api: Api, { id }: Site): Promise<Body[]> {
  for (const deadline = Date.now() + settleMs; ; await sleep(200)) {
    const deploys: Body[] = await api.get(`/services/${id}/deploys?limit=500`)
    if (deploys.every(({ status }) => ends.includes(status)) || Date.now() > deadline) return deploys
  }
}

async function deployVersions(drill: Drill, site: Site, chance: Chance): Promise<void> {
  const { client, followers } = drill
  while (!drill.isOver) {
    await sleep(chance.between(0, 4000))
    await site.app.release('good')
    const deploy = await client.order(`/services/${site.id}/deploys`, {})
    if (!deploy) continue
    site.deployIds.push(deploy.id)
    followers.follow(deploy.id)
    // No deadline: a build that takes longer than the daemon lives starts again each time.
    let status = ''
    while (!drill.isOver && !ends.includes(status)) {
      status = (await client.get(`/deploys/${deploy.id}`)).status
      if (status === 'live') site.newestLive = site.app.versions.length - 1
      else await sleep(200)
    }
  }
}

/** One request after another; a failed one is a violation unless the edge or Docker was away. */
async function visit(drill: Drill, site: Site, agent: Agent, port: number): Promise<void> {
  const { incidents, ledger } = drill
  while (!drill.isOver) {
    const [since, least] = [Date.now(), site.newestLive]
    const fault = await findFault(site, agent, port, least)
    site.visits++
    if (fault !== null && incidents.wasDisturbed(edge, since)) site.excused++
    else if (fault !== null)
      ledger.addViolation(
        'every visit gets the newest page',
        `${new Date().toISOString()} ${site.app.name}: ${fault}`,
      )
    await sleep(visitPauseMs)
  }
}

/** Null if the response is right. */
async function findFault(site: Site, agent: Agent, port: number, least: number): Promise<string | null> {
  try {
    const { status, body } = await get(`${site.app.name}.localhost`, agent, port)
    const index = site.app.versions.findIndex(({ page }) => page === body)
    if (status !== 200 || index < 0) return `${status} ${body.slice(0, 200)}`
    if (index < least) return `version ${index + 1} after version ${least + 1}`
    return null
  } catch (error) {
    return String((error as Error).message)
  }
}

function get(host: string, agent: Agent, port: number): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, agent, headers: { host }, timeout: visitMs },
      (response) => {
        let body = ''
        response.setEncoding('utf8').on('data', (text) => {
          body += text
        })
        response.once('end', () => resolve({ status: response.statusCode!, body }))
        response.once('error', reject)
      },
    )
    sent.once('timeout', () => sent.destroy(new Error(`no response within ${visitMs / 1000} s`)))
    sent.once('error', reject)
    sent.end()
  })
}

/** Waits until visitors get the page again; with `isLive` also until the daemon sees all instances. */
async function untilServed(
  drill: Drill,
  site: Site,
  agent: Agent,
  port: number,
  isLive: boolean,
): Promise<void> {
  let fault: string | null = null
  for (const deadline = Date.now() + backMs; Date.now() < deadline; await sleep(100)) {
    fault = await findFault(site, agent, port, site.newestLive)
    if (fault !== null) continue
    const { state, reason } = isLive
      ? await drill.client.get(`/services/${site.id}/status`)
      : { state: 'live' }
    if (state === 'live') return
    fault = `${state}: ${reason}`
  }
  drill.ledger.addViolation('services recover', `${site.app.name}: ${fault}`)
}
