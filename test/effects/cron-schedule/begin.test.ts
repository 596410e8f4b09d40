// The run of a scheduled time: started, or skipped with a recorded reason.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openJobQueue } from '../../support/effects/job-queue.ts'

const instant = '2026-01-01T03:00:00.000Z'

test('a run without obstacles is started on the live version', async (t) => {
  const queue = await openJobQueue(t, { service: { timeout_seconds: 90 } })
  assert.equal(await queue.begin('job-9'), null)
  const [{ at, ...input }, ...more] = queue.spawned as [(typeof queue.spawned)[0]]
  assert.ok(Number.isFinite(Date.parse(at)))
  assert.deepEqual(more, [])
  assert.deepEqual(input, {
    id: 'job-9',
    serviceId: 'svc-1',
    command: null,
    image: 'berth/shop:dep-1',
    trigger: 'schedule',
    scheduledFor: instant,
    overlap: 'skip',
    timeoutSeconds: 90,
    stdin: false,
  })
  assert.deepEqual(queue.warned, [])
})

test('a run whose next time has already come is not started', async (t) => {
  const service = { schedule: '0 * * * *', overlap: 'replace' as const }
  const reason = 'the server was down until the next run was due'
  const late = await openJobQueue(t, { service, now: '2026-01-01T04:00:00.000Z' })
  const inTime = await openJobQueue(t, { service, now: '2026-01-01T03:59:59.999Z' })

  assert.deepEqual([await late.begin('job-9'), late.spawned], [reason, []])
  assert.equal(await inTime.begin('job-9'), null)
})

test('without its own limit a run may take a day', async (t) => {
  const queue = await openJobQueue(t)
  await queue.begin('job-9')
  assert.equal(queue.spawned[0]?.timeoutSeconds, 86_400)
})

test('skip: an active run is the reason, and its log records the skip', async (t) => {
  const queue = await openJobQueue(t, { service: { overlap: 'skip' } })
  await queue.is('job-1', 'running', { scheduled_for: '2026-01-01T02:00:00.000Z' })
  const reason = 'job-1 of 2026-01-01T02:00:00.000Z had not ended'
  assert.equal(await queue.begin('job-9'), reason)
  assert.deepEqual(queue.spawned, [])
  assert.deepEqual(await queue.saidBy('job-1'), [
    `the run due at ${instant} was skipped: this run has not ended`,
  ])
  assert.deepEqual(queue.warned, [{ service: 'shop', instant, reason }])
})

for (const status of ['pending', 'running', 'canceled'] as const) {
  test(`skip: a run that is ${status} but not removed yet counts, and a removed one does not`, async (t) => {
    const queue = await openJobQueue(t)
    await queue.is('job-1', status)
    assert.equal(await queue.begin('job-8'), 'job-1 had not ended')
    await queue.is('job-1', status, { final: true })
    assert.equal(await queue.begin('job-9'), null)
  })
}

for (const overlap of ['skip', 'queue', 'replace'] as const) {
  test(`${overlap}: one-off commands and other services are not in the way`, async (t) => {
    const queue = await openJobQueue(t, { service: { overlap } })
    await queue.is('job-1', 'running', { overlap: null, command: 'ls' })
    await queue.is('job-2', 'running', { service_id: 'svc-10' })
    assert.equal(await queue.begin('job-9'), null)
    assert.deepEqual([await queue.saidBy('job-1'), await queue.saidBy('job-2')], [[], []])
  })
}

test('queue: at most a hundred runs wait', async (t) => {
  const queue = await openJobQueue(t, { service: { overlap: 'queue' } })
  const ids = Array.from({ length: 99 }, (_, index) => `job-${String(index).padStart(3, '0')}`)
  await Promise.all(ids.map((id) => queue.is(id, 'pending')))
  assert.equal(await queue.begin('job-100'), null)
  assert.equal(await queue.begin('job-101'), '100 runs have not ended')
  await queue.is('job-000', 'succeeded', { final: true })
  assert.equal(await queue.begin('job-102'), null)
  assert.deepEqual(
    queue.spawned.map(({ id, overlap }) => [id, overlap]),
    [
      ['job-100', 'queue'],
      ['job-102', 'queue'],
    ],
  )
})

test('replace: the run starts beside the active one and ends it itself', async (t) => {
  const queue = await openJobQueue(t, { service: { overlap: 'replace' } })
  await queue.is('job-1', 'running')
  assert.equal(await queue.begin('job-9'), null)
  assert.deepEqual([queue.spawned[0]?.overlap, queue.sent], ['replace', []])
})

const reasons: [what: string, fields: object, isDeployed: boolean, reason: string][] = [
  ['that was never deployed', {}, false, 'its service was not live'],
  ['that is suspended', { suspended: true }, true, 'its service was suspended'],
  ['that is being deleted', { deleting: true }, true, 'its service is being deleted'],
]
for (const [what, fields, isDeployed, reason] of reasons) {
  test(`no run is started for a service ${what}`, async (t) => {
    const queue = await openJobQueue(t, { isDeployed })
    await queue.change(fields)
    assert.equal(await queue.begin('job-9'), reason)
    assert.deepEqual([queue.spawned, queue.warned], [[], [{ service: 'shop', instant, reason }]])
  })
}

test('no run is started if the service is deleted concurrently', async (t) => {
  const queue = await openJobQueue(t)
  // Both are committed in this order; the run still sees the service as it was before.
  const deleting = queue.change({ deleting: true })
  assert.equal(await queue.begin('job-9'), 'the service is being deleted')
  await deleting
  assert.equal(queue.storage.actors.record('job-9'), null)
})

test('no run is started for a deleted service', async (t) => {
  const queue = await openJobQueue(t)
  await queue.storage.services.remove('svc-1')
  assert.equal(await queue.begin('job-9'), 'its service is being deleted')
})

test('a start repeated after a crash yields the existing run, active or ended', async (t) => {
  const queue = await openJobQueue(t)
  await queue.is('job-9', 'running')
  assert.equal(await queue.begin('job-9'), null)
  await queue.is('job-9', 'succeeded', { final: true })
  assert.equal(await queue.begin('job-9'), null)
  assert.deepEqual([queue.spawned, await queue.saidBy('job-9')], [[], []])
})
