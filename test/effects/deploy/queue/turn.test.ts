// The turn of a deploy: its order, what is frozen at the turn, and the image that a restart uses.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { DeploySource } from '../../../../machines/deploy/deploy-context.ts'
import { openEngine } from '../../../../src/docker/engine/client.ts'
import { DeployPhase } from '../../../../src/effects/deploy/phase.ts'
import type { DeployPorts } from '../../../../src/effects/deploy/ports.ts'
import { awaitTurn } from '../../../../src/effects/deploy/queue/turn.ts'
import type { Storage } from '../../../../storage/index.ts'
import type { ServiceRow } from '../../../../storage/services.ts'
import { until } from '../../../support/daemon/service.ts'
import { ensureEngine } from '../../../support/docker/engine.ts'
import { baseImages } from '../../../support/docker/images.ts'
import { standIn } from '../../../support/effects/stand-in.ts'
import { deployInput } from '../../../support/machines/deploy-chart.ts'
import { serviceRow, transitionOf } from '../../../support/storage/store-fixtures.ts'
import { temporaryStorage } from '../../../support/supervisor/supervision.ts'

const neverAborted = new AbortController().signal

/** Opens a store with one service whose deploys are rows. */
async function openDeployQueue(t: TestContext, { service = {}, minFreeDiskMb = 0 }: QueueOptions = {}) {
  const storage = await temporaryStorage(t)
  await storage.services.create(serviceRow(service))
  const engineReady = async () => ({ name: 'berth', range: { first: '10.201.0.2', last: '10.201.0.9' } })
  const settings = { dataDir: storage.directory, minFreeDiskMb, settleMs: 5000 }
  const engine = openEngine(await ensureEngine())
  t.after(() => engine.close())
  const ports = standIn<DeployPorts>({ storage, engineReady, settings, engine })
  const revisions = new Map<string, number>()
  return {
    storage,
    ask: (id: string, signal = neverAborted, source: DeploySource = deployInput().source) =>
      awaitTurn(new DeployPhase(ports, { id, serviceId: 'svc-1' }, signal), { source }),
    /** Creates a deploy or updates it. */
    async is(id: string, status: string, { final = false, service_id = 'svc-1' } = {}) {
      const revision = (revisions.get(id) ?? 0) + 1
      revisions.set(id, revision)
      const transition = transitionOf({ id, revision, final, service_id }, { status })
      await (revision === 1 ? storage.actors.create(transition) : storage.actors.advance(transition))
    },
    saidBy: (id: string) => saidBy(storage, id),
    /** Resolves when its log has a line. */
    untilSaid: (id: string) => until(`a line of ${id}`, async () => (await saidBy(storage, id)).length > 0),
  }
}

async function saidBy(storage: Storage, id: string): Promise<string[]> {
  await storage.logs.flush()
  return (await storage.logs.tail(id, 10)).map(({ line }) => line)
}

interface QueueOptions {
  service?: Partial<ServiceRow>
  minFreeDiskMb?: number
}

/** The result of a promise, or `waits` if it is still pending after 20 ms. */
async function settle(promise: Promise<unknown>): Promise<unknown> {
  const later = new Promise((resolve) => setTimeout(resolve, 20, 'waits'))
  return Promise.race([promise, later])
}

const unhurried: [string, object, number][] = [
  ['one that replaces what serves', { live_deploy_id: 'dep-0' }, 5000],
  ['the first one', {}, 0],
  ['a static site, whose server is our own', { live_deploy_id: 'dep-0', type: 'static_site' }, 0],
  ['a worker, whose check is that it runs', { live_deploy_id: 'dep-0', type: 'background_worker' }, 0],
]
for (const [what, service, settleMs] of unhurried) {
  test(`${what} has ${settleMs} ms to settle`, async (t) => {
    const queue = await openDeployQueue(t, { service })
    await queue.is('dep-1', 'queued')

    const turn = await queue.ask('dep-1')

    assert.equal(turn.settleMs, settleMs)
  })
}

test('a deploy without predecessors gets its turn immediately', async (t) => {
  const queue = await openDeployQueue(t, { service: { live_deploy_id: 'dep-0', drain_seconds: 5 } })
  await queue.is('dep-1', 'queued')

  assert.deepEqual(await queue.ask('dep-1'), {
    supersededBy: null,
    formerDeployId: 'dep-0',
    exclusive: false,
    preDeploy: false,
    onSchedule: false,
    checkMs: 300_000,
    settleMs: 5000,
    drainMs: 5000,
    reused: null,
  })
})

for (const status of ['running', 'failed', 'canceled']) {
  test(`a deploy waits for another one that is ${status} but still has instances`, async (t) => {
    const queue = await openDeployQueue(t)
    await queue.is('dep-1', status)
    await queue.is('dep-2', 'queued')
    const requested = queue.ask('dep-2')
    assert.equal(await settle(requested), 'waits')
    await queue.untilSaid('dep-2')
    await queue.is('dep-1', status)
    assert.equal(await settle(requested), 'waits')

    await queue.is('dep-1', status, { final: true })

    assert.equal((await requested).supersededBy, null)
    assert.deepEqual(await queue.saidBy('dep-2'), ['waiting for dep-1 of this service to finish'])
  })
}

for (const status of ['live', 'deactivated']) {
  test(`a deploy does not wait for one that is ${status}`, async (t) => {
    const queue = await openDeployQueue(t)
    await queue.is('dep-1', status)
    await queue.is('dep-2', 'queued')
    assert.equal((await queue.ask('dep-2')).supersededBy, null)
  })
}

test('the turn comes when the previous deploy goes live', async (t) => {
  const queue = await openDeployQueue(t)
  await queue.is('dep-1', 'running')
  await queue.is('dep-2', 'queued')
  const requested = queue.ask('dep-2')
  assert.equal(await settle(requested), 'waits')

  await queue.is('dep-1', 'live')

  assert.equal((await requested).supersededBy, null)
})

test('a newer queued deploy replaces the older queued one, and waits until that has ended', async (t) => {
  const queue = await openDeployQueue(t)
  await queue.is('dep-1', 'running')
  await queue.is('dep-2', 'queued')
  const older = queue.ask('dep-2')
  assert.equal(await settle(older), 'waits')

  await queue.is('dep-3', 'queued')
  const newer = queue.ask('dep-3')

  const turn = await older
  const none = {
    formerDeployId: null,
    exclusive: false,
    preDeploy: false,
    onSchedule: false,
    checkMs: 0,
    settleMs: 0,
    drainMs: 0,
    reused: null,
  }
  assert.deepEqual(turn, { supersededBy: 'dep-3', ...none })
  await queue.is('dep-1', 'live')
  assert.equal(await settle(newer), 'waits')
  await queue.is('dep-2', 'canceled')
  assert.equal(await settle(newer), 'waits')
  await queue.is('dep-2', 'canceled', { final: true })
  assert.equal((await newer).supersededBy, null)
})

test('a replaced deploy freezes nothing', async (t) => {
  const queue = await openDeployQueue(t)
  await queue.is('dep-1', 'queued')
  await queue.is('dep-2', 'queued')
  await queue.ask('dep-1')
  assert.deepEqual(queue.storage.releases.ids(), [])
})

test('deploys of another service do not block', async (t) => {
  const queue = await openDeployQueue(t)
  await queue.is('dep-1', 'running', { service_id: 'svc-10' })
  await queue.is('dep-2', 'queued')
  await queue.is('dep-3', 'queued', { service_id: 'svc-10' })
  assert.equal((await queue.ask('dep-2')).supersededBy, null)
})

test('a waiting deploy ends when its service is removed', async (t) => {
  const queue = await openDeployQueue(t)
  await queue.is('dep-1', 'running')
  await queue.is('dep-2', 'queued')
  const requested = queue.ask('dep-2')
  assert.equal(await settle(requested), 'waits')

  await queue.storage.services.update('svc-1', (row) => ({ ...row, deleting: true }))

  await assert.rejects(requested, { code: 'not_found' })
})

test('a waiting deploy ends when it is aborted', async (t) => {
  const queue = await openDeployQueue(t)
  await queue.is('dep-1', 'running')
  await queue.is('dep-2', 'queued')
  const controller = new AbortController()
  const requested = queue.ask('dep-2', controller.signal)
  const reason = new Error('canceled')
  controller.abort(reason)
  await assert.rejects(requested, reason)
})

test('settings and env are frozen at the turn; a repeated turn freezes the current ones', async (t) => {
  const queue = await openDeployQueue(t, {
    service: { start_command: 'early', health_check_timeout_seconds: 7 },
  })
  const { services, env, releases } = queue.storage
  await env.change('svc-1', () => [{ key: 'A', value: 'before' }])
  await queue.is('dep-1', 'queued')
  const turn = await queue.ask('dep-1')
  const changes = { start_command: 'late', health_check_timeout_seconds: 8 }
  await services.update('svc-1', (row) => ({ ...row, ...changes }))
  await env.change('svc-1', () => [])

  assert.equal(turn.checkMs, 7000)
  const { settings, ...rest } = releases.get('dep-1')!
  assert.deepEqual(rest, { env: [{ key: 'A', value: 'before' }], resolved: null })
  assert.equal(settings.start_command, 'early')
  const states = ['id', 'name', 'live_deploy_id', 'desired_deploy_id', 'degraded', 'deleting', 'revision']
  assert.deepEqual(
    states.filter((field) => field in settings),
    [],
  )
  assert.equal((await queue.ask('dep-1')).checkMs, 8000)
})

for (const [former, present, exclusive] of [
  ['/data', '/data', true],
  [null, '/data', false],
  ['/data', null, false],
] as const) {
  test(`a deploy with the disk ${present} after one with ${former} is exclusive: ${exclusive}`, async (t) => {
    const queue = await openDeployQueue(t, { service: { disk_mount_path: former } })
    await queue.is('dep-1', 'queued')
    await queue.ask('dep-1')
    await queue.is('dep-1', 'live')
    const change = { live_deploy_id: 'dep-1', disk_mount_path: present }
    await queue.storage.services.update('svc-1', (row) => ({ ...row, ...change }))
    await queue.is('dep-2', 'queued')

    assert.equal((await queue.ask('dep-2')).exclusive, exclusive)
  })
}

test('a build does not start on a nearly full disk; the message names the path and the option', async (t) => {
  const queue = await openDeployQueue(t, { minFreeDiskMb: 2 ** 40 })
  await queue.is('dep-1', 'queued')
  await assert.rejects(queue.ask('dep-1'), (error: Error & { code: string }) => {
    assert.equal(error.code, 'insufficient_storage')
    assert.ok(error.message.startsWith(`${queue.storage.directory} has `))
    return error.message.endsWith('a deploy needs 1099511627776 MiB (--min-free-disk)')
  })
})

test('a restart uses the image that is live when it runs', async (t) => {
  const reuse = { ...deployInput().source, kind: 'reuse' as const }
  const queue = await openDeployQueue(t, { service: { live_deploy_id: 'dep-1' }, minFreeDiskMb: 2 ** 40 })
  const transition = transitionOf({ id: 'dep-1' }, { status: 'live' })
  const { source } = deployInput()
  const { busybox: image } = await baseImages()
  const built = { image, commit_sha: null, commit_message: null, source }
  await queue.storage.actors.create({ ...transition, record: { ...transition.record, ...built } })
  await queue.is('dep-2', 'queued')

  const { reused } = await queue.ask('dep-2', neverAborted, reuse)

  assert.deepEqual(reused, {
    image,
    commitSha: null,
    commitMessage: null,
    source: { ...source, kind: 'reuse', deploy_id: 'dep-1' },
  })
})

test('a missing image is refused before anything is frozen', async (t) => {
  const reuse = { ...deployInput().source, kind: 'reuse' as const }
  const queue = await openDeployQueue(t, { service: { live_deploy_id: 'dep-1' } })
  const transition = transitionOf({ id: 'dep-1' }, { status: 'live' })
  const image = 'localhost/berth-test/never-built:1'
  await queue.storage.actors.create({ ...transition, record: { ...transition.record, image } })
  await queue.is('dep-2', 'queued')

  await assert.rejects(queue.ask('dep-2', neverAborted, reuse), { code: 'image_gone' })
  assert.equal(queue.storage.releases.has('dep-2'), false)
})

test('a restart of a service without a live deploy fails', async (t) => {
  const queue = await openDeployQueue(t)
  await queue.is('dep-2', 'queued')
  const reuse = { ...deployInput().source, kind: 'reuse' as const }
  await assert.rejects(queue.ask('dep-2', neverAborted, reuse), { code: 'conflict' })
})
