// The engine: when it counts as ready, and which parked actors do not resume.
import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { catalogue } from '../../../machines/index.ts'
import { ensureVolume } from '../../../src/docker/containers/volumes.ts'
import { openEngine } from '../../../src/docker/engine/client.ts'
import type { Network } from '../../../src/docker/network/networks.ts'
import { createEngineReadiness, type EngineReadinessOptions } from '../../../src/effects/engine/readiness.ts'
import { requireMayResume } from '../../../src/effects/engine/resume-check.ts'
import { Supervisor } from '../../../src/supervisor/supervisor.ts'
import { type DockerSite, openDockerSite, testOwner, testSubnet } from '../../support/docker/docker-site.ts'
import { ensureEngine } from '../../support/docker/engine.ts'
import { endlessEffects, restingActors } from '../../support/storage/parked-kinds.ts'
import { serviceRow, transitionOf } from '../../support/storage/store-fixtures.ts'
import { instant as at, silentLogger, temporaryStorage } from '../../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'
import { testMac } from '../../support/system/test-mac.ts'

const neverAborted = new AbortController().signal

function readinessOf(
  { engine, owner }: Pick<DockerSite, 'engine' | 'owner'>,
  changes: Partial<EngineReadinessOptions> = {},
) {
  const done: string[] = []
  const opened: Network[] = []
  const readiness = createEngineReadiness({
    engine,
    owner,
    storage: { predecessors: () => [] },
    subnet: testSubnet,
    reconcile: async () => void done.push('reconciled'),
    removeNameless: async () => undefined,
    onForeignObjects: (failure) => done.push(failure.message),
    onOpen: (network) => opened.push(network),
    ...changes,
  })
  return { ...readiness, done, opened }
}

test('the gate opens once for all waiters, after everything was reconciled', async (t) => {
  const site = await openDockerSite(t)
  const order: string[] = []
  const { engineReady, opened } = readinessOf(site, {
    reconcile: async () => void order.push('reconciled'),
  })
  const pass = async () => {
    const network = await engineReady(neverAborted)
    order.push(network.name)
    return network
  }

  const networks = await Promise.all([pass(), pass(), pass()])

  const { prefix } = site.owner
  assert.deepEqual(order, ['reconciled', prefix, prefix, prefix])
  assert.deepEqual(new Set(networks).size, 1)
  const created = await site.engine.docker.listNetworks({ filters: { name: [prefix] } })
  assert.deepEqual(
    created.map(({ Name, IPAM }) => [Name, IPAM?.Config?.[0]?.Subnet]),
    opened.map(({ name, subnet }) => [name, subnet]),
  )
  assert.equal(opened.length, 1)
})

test('foreign objects with its prefix keep the gate closed, and are named', async (t) => {
  const site = await openDockerSite(t)
  const other = { prefix: site.owner.prefix, serverId: testOwner().serverId, mac: testMac }
  await ensureVolume(site.engine, other, `${other.prefix}-disk`)
  const { engineReady, done, opened } = readinessOf(site)

  await assert.rejects(engineReady(neverAborted), { code: 'foreign_objects' })

  const { prefix } = site.owner
  const message = `Docker has objects of the prefix '${prefix}' that belong to another data directory: `
  assert.deepEqual(done, [`${message}volume ${prefix}-disk`])
  assert.deepEqual(opened, [])
  const networks = await site.engine.docker.listNetworks({ filters: { name: [prefix] } })
  assert.deepEqual(networks, [])
})

test('the gate waits for an unresponsive engine until the signal aborts', async (t) => {
  const { owner } = await openDockerSite(t)
  const socket = join(temporaryDirectory(t), 'docker.sock')
  const engine = openEngine(`unix://${socket}`)
  t.after(() => engine.close())
  const { engineReady, done, opened } = readinessOf({ engine, owner })
  const impatient = new AbortController()
  const reason = new Error('canceled')
  const givesUp = engineReady(impatient.signal)
  const waits = engineReady(neverAborted)
  impatient.abort(reason)
  await assert.rejects(givesUp, reason)
  assert.deepEqual([opened, done], [[], []])

  symlinkSync(new URL(await ensureEngine()).pathname, socket)

  assert.equal((await waits).name, owner.prefix)
  assert.deepEqual(done, ['reconciled'])
})

test('if opening fails, the next caller retries', async (t) => {
  const site = await openDockerSite(t)
  let attempts = 0
  const { engineReady } = readinessOf(site, {
    reconcile: async () => {
      if (++attempts === 1) throw new Error('half way')
    },
  })
  await assert.rejects(engineReady(neverAborted), /half way/)
  await engineReady(neverAborted)
  await engineReady(neverAborted)
  assert.equal(attempts, 2)
})

const resting = restingActors()
const watchful = ['queued', 'live', 'draining']

async function start(t: TestContext, kind: string, state: string) {
  const storage = await temporaryStorage(t)
  await storage.services.create(serviceRow())
  const { id, transition } = resting.find((actor) => actor.kind === kind && actor.state === state)!
  await storage.actors.create(transition)
  await storage.actors.park(id, 'a bug', at)
  const assertCanResume: ConstructorParameters<typeof Supervisor>[0]['assertCanResume'] = (row, snapshot) =>
    requireMayResume(storage, row, snapshot)
  const supervisor = new Supervisor({ storage, catalogue, logger: silentLogger, assertCanResume })
  supervisor.provide(endlessEffects())
  t.after(() => supervisor.stop(1000))
  return { storage, supervisor, id }
}

for (const { state } of resting.filter(({ kind }) => kind === 'deploy')) {
  const isWatchful = watchful.includes(state)
  test(`a deploy parked in ${state} ${isWatchful ? 'resumes' : 'waits'} while another runs`, async (t) => {
    const { storage, supervisor, id } = await start(t, 'deploy', state)
    await storage.actors.create(transitionOf({ id: 'dep-2' }, { status: 'running' }))
    const retried = supervisor.retry(id)
    if (isWatchful) await retried
    else await assert.rejects(retried, { code: 'conflict', message: /dep-2 is running/ })
    assert.equal(storage.actors.parkedOf(id) === null, isWatchful)
  })
}

test('a deploy does not resume once a newer one is live, and can be discarded', async (t) => {
  const { storage, supervisor, id } = await start(t, 'deploy', 'running.building')
  await storage.services.update('svc-1', (row) => ({ ...row, live_deploy_id: 'dep-2' }))
  await assert.rejects(supervisor.retry(id), { code: 'conflict' })
  assert.equal((await supervisor.discard(id)).status, 'failed')
  assert.equal(storage.services.get('svc-1')?.live_deploy_id, 'dep-2')
})

test('a certificate does not resume while its host has another one', async (t) => {
  const { storage, supervisor, id } = await start(t, 'certificate', 'waiting')
  const other = transitionOf({ id: 'crt-2', kind: 'certificate' }, { status: 'valid' })
  await storage.actors.create({ ...other, record: { ...other.record, host: 'shop.example.com' } })
  await assert.rejects(supervisor.retry(id), { code: 'conflict' })
})

test('a scheduled run does not resume while another run is active, a manual run does', async (t) => {
  const { storage, supervisor, id } = await start(t, 'job-run', 'running.starting')
  const other = transitionOf({ id: 'job-2', kind: 'job-run' }, { status: 'running' })
  await storage.actors.create({ ...other, record: { ...other.record, overlap: null } })
  const scheduled = transitionOf({ id: 'job-3', kind: 'job-run' }, { status: 'running' })
  await storage.actors.create({ ...scheduled, record: { ...scheduled.record, overlap: 'skip' } })
  await assert.rejects(supervisor.retry(id), { code: 'conflict', message: /job-3 is running/ })
  await storage.actors.park('job-3', 'a bug', at)
  await supervisor.retry(id)
  assert.equal(storage.actors.parkedOf(id), null)
})
