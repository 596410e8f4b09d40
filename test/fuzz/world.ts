// The environment of a run: a real daemon, repositories of every kind, a live service, and the objects
// that requests created.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { launchDaemon, type TestDaemon } from '../support/daemon/daemon.ts'
import { finishedDeploy, pageApp } from '../support/daemon/service.ts'
import { baseImages } from '../support/docker/images.ts'
import { createGitProvider } from '../support/git/git-provider.ts'
import { createGitServer } from '../support/git/git-server.ts'
import { createRepository } from '../support/git/repository.ts'
import type { Scope } from '../support/system/directory.ts'
import { openBrowser } from './browser.ts'
import { type Provider, providers, type Webhook } from './deliveries.ts'
import { createSecrets, type Secrets } from './secrets.ts'
import type { Meaning } from './tokens.ts'

export interface World {
  readonly daemon: TestDaemon
  readonly port: number
  readonly secrets: Secrets
  readonly archive: Buffer
  /** Of one connection of each provider. */
  readonly webhooks: ReadonlyMap<Provider, Webhook>
  /** All events of the change feed. */
  readonly feed: string[]
  readonly meaning: Meaning
  /** By noun, the newest first: the objects of the current sequence, then the permanent ones. */
  readonly pools: Map<string, string[]>
  /** The ids of services by name, including deleted ones. */
  readonly ids: Map<string, string>
  /** The ids of services whose disk must be retained. */
  readonly keptDisks: Set<string>
  /** The ids of datastores whose passwords are registered as secrets. */
  readonly passwords: Set<string>
  /** Forgets the objects of a sequence and ensures that there is a datastore and a live service. */
  renew(): Promise<void>
}

const limits = ['--fetch-timeout=5', '--build-timeout=120', '--start-timeout=120', '--keep-images=3']
/** Nothing listens there: a datastore fails at once with a reason, and is retried. */
const images = ['postgres', 'redis'].map((kind) => `--${kind}-image=127.0.0.1:9/${kind}:{version}`)
/**
 * The number of sequences that share a live service before it is replaced, because they modify and break it.
 */
const sequencesPerService = 20

export async function openWorld(scope: Scope): Promise<World> {
  const secrets = createSecrets()
  const { things, archive } = await prepareThings(scope, secrets)
  const daemon = await launchDaemon({ args: [...limits, ...images, '--log-level=debug'] })
  scope.after(() => daemon.remove())
  const token = readFileSync(join(daemon.dataDir, 'api_token'), 'utf8').trim()
  secrets.add('the token', token)
  things.set('token', token)
  let sessions = 0
  const browser = await openBrowser(daemon, (secret) => secrets.add(`session ${++sessions}`, secret))
  const pools = new Map<string, string[]>()
  const meaning: Meaning = {
    nth: (noun, index) => nthOf(pools.get(noun) ?? [], noun, index),
    secret: secrets.at,
    named: (name) => (name === 'session' ? browser.cookie : things.get(name)!),
  }
  const steady = createSteady(daemon, things.get('app')!)
  await steady.renew(pools)
  const first = await finishedDeploy(daemon.api, pools.get('deploys')![0]!)
  if (first.status !== 'live') throw new Error(`the first service does not go live: ${first.error}`)
  const port = Number(new URL(daemon.api.url).port)
  const renew = async () => {
    await browser.renew()
    await steady.renew(pools)
  }
  const webhooks = await openWebhooks(scope, daemon, secrets)
  const feed = followFeed(daemon)
  const known = { ids: new Map(), keptDisks: new Set<string>(), passwords: new Set<string>() }
  return { daemon, port, secrets, archive, webhooks, feed, meaning, pools, ...known, renew }
}

async function openWebhooks(scope: Scope, { api }: TestDaemon, secrets: Secrets) {
  const { url, createToken } = await createGitProvider(scope)
  const webhooks = new Map<Provider, Webhook>()
  for (const provider of providers) {
    const token = createToken('ada')
    const { id } = await api.post('/git/connections', { provider, base_url: url, token })
    const { secret } = await api.get(`/git/connections/${id}/hook`)
    secrets.add(`the token for ${provider}`, token)
    secrets.add(`the secret of the webhook of ${provider}`, secret)
    webhooks.set(provider, { connection: id, secret })
  }
  return webhooks
}

/** Ends with the daemon. */
function followFeed({ api }: TestDaemon): string[] {
  const feed: string[] = []
  const follow = async () => {
    for await (const event of api.events('/events')) feed.push(JSON.stringify(event))
  }
  void follow().catch(() => undefined)
  return feed
}

function nthOf(pool: string[], noun: string, index: number): string {
  return pool.length === 0 ? `${noun}-${index}.invalid` : pool[index % pool.length]!
}

/** Repositories that are deployable, need a password, hang, or have no Dockerfile. */
async function prepareThings(scope: Scope, secrets: Secrets) {
  const page = await pageApp('fuzz')
  const inFolder = Object.entries(page).map(([path, text]) => [`app/${path}`, text])
  const app = createRepository(scope)
  const head = app.commit('First', { ...page, ...Object.fromEntries(inFolder) })
  const bare = createRepository(scope)
  bare.commit('First', { 'package.json': '{}' })
  const password = secrets.at('repository')
  const credentials = { username: 'user', password }
  const closed = await createGitServer(scope, { root: app.root, credentials })
  const hanging = await createGitServer(scope, { root: app.root, answer: () => 'hang' })
  const things = new Map([
    ['app', app.directory],
    ['bare', bare.directory],
    ['private', `${closed.url.replace('//', `//user:${encodeURIComponent(password)}@`)}/app`],
    ['hanging', `${hanging.url}/app`],
    ['head', head],
    ['busybox', (await baseImages()).busybox],
  ])
  const archive = execFileSync('git', ['archive', '--format=tar.gz', 'HEAD'], { cwd: app.directory })
  return { things, archive }
}

/** The permanent service and datastore: names, ids and deploys are in the pools. */
function createSteady({ api }: TestDaemon, repoUrl: string) {
  let age = 0
  let name = ''
  let datastore = 'none'
  let count = 0

  async function create(): Promise<void> {
    if (name !== '') await api.call('DELETE', `/services/${name}?force=true&delete_disk=true&purge=true`)
    name = `steady-${++count}`
    await api.post('/services', { name, repo_url: repoUrl, drain_seconds: 0 })
    age = 0
  }

  return {
    async renew(pools: Map<string, string[]>): Promise<void> {
      if (age++ % sequencesPerService === 0 || !(await isThere(name))) await create()
      const { id } = await api.get(`/services/${name}`)
      const deploys: { id: string; status: string }[] = await api.get(`/services/${name}/deploys`)
      pools.clear()
      pools.set('services', [name, id])
      pools.set(
        'deploys',
        deploys.map((deploy) => deploy.id),
      )
      pools.set('datastores', await keepDatastore())
      if (deploys.length === 1 && deploys[0]!.status === 'live') await deployAgain()
    },
  }

  /** A second deploy, as a target for rollbacks. The service may be suspended by now. */
  async function deployAgain(): Promise<void> {
    await api.call('POST', `/services/${name}/deploys`)
  }

  async function isThere(service: string): Promise<boolean> {
    const { status, body } = await api.call('GET', `/services/${service}`)
    return status === 200 && body.state !== 'deleting'
  }

  /** A datastore for the requests that need one. */
  async function keepDatastore(): Promise<string[]> {
    const { status, body } = await api.call('GET', `/datastores/${datastore}`)
    if (status === 200 && body.status !== 'deleting') return [datastore, body.id]
    datastore = `steady-db-${++count}`
    return [datastore, (await api.post('/datastores', { kind: 'redis', name: datastore })).id]
  }
}
