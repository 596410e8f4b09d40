// The run of a scheduled time: started, or skipped with a recorded reason.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openJobQueue } from '../../support/job-queue.ts'

const instant = '2026-01-01T03:00:00.000Z'

test('a run that nothing is in the way of is begun with what is live', async (t) => {
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
  })
  assert.deepEqual(queue.warned, [])
})

test('one whose next instant has come meanwhile is begun no more', async (t) => {
  const service = { schedule: '0 * * * *', overlap: 'replace' as const }
  const reason = 'the server was down until the next run was due'
  const late = await openJobQueue(t, { service, now: '2026-01-01T04:00:00.000Z' })
  const inTime = await openJobQueue(t, { service, now: '2026-01-01T03:59:59.999Z' })

  assert.deepEqual([await late.begin('job-9'), late.spawned], [reason, []])
  assert.equal(await inTime.begin('job-9'), null)
})

test('without a limit of its own a run may take a day', async (t) => {
  const queue = await openJobQueue(t)
  await queue.begin('job-9')
  assert.equal(queue.spawned[0]?.timeoutSeconds, 86_400)
})

test('skip: one that runs is the reason, and its log says so', async (t) => {
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
  test(`skip: one that is ${status} and not gone yet counts, and once it is gone it does not`, async (t) => {
    const queue = await openJobQueue(t)
    await queue.is('job-1', status)
    assert.equal(await queue.begin('job-8'), 'job-1 had not ended')
    await queue.is('job-1', status, { final: true })
    assert.equal(await queue.begin('job-9'), null)
  })
}

for (const overlap of ['skip', 'queue', 'replace'] as const) {
  test(`${overlap}: a command that somebody gave, and another service, are in nobody's way`, async (t) => {
    const queue = await openJobQueue(t, { service: { overlap } })
    await queue.is('job-1', 'running', { overlap: null, command: 'ls' })
    await queue.is('job-2', 'running', { service_id: 'svc-10' })
    assert.equal(await queue.begin('job-9'), null)
    assert.deepEqual([await queue.saidBy('job-1'), await queue.saidBy('job-2')], [[], []])
  })
}

test('queue: a hundred may be there, and no more', async (t) => {
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

test('replace: it is begun beside the one that runs, which it ends itself', async (t) => {
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
  test(`nothing is begun of a service ${what}`, async (t) => {
    const queue = await openJobQueue(t, { isDeployed })
    await queue.change(fields)
    assert.equal(await queue.begin('job-9'), reason)
    assert.deepEqual([queue.spawned, queue.warned], [[], [{ service: 'shop', instant, reason }]])
  })
}

test('nothing is begun of a service whose deletion comes in between', async (t) => {
  const queue = await openJobQueue(t)
  // Both are committed in this order; the run still sees the service as it was before.
  const deleting = queue.change({ deleting: true })
  assert.equal(await queue.begin('job-9'), 'the service is being deleted')
  await deleting
  assert.equal(queue.storage.actors.record('job-9'), null)
})

test('nothing is begun of a service that is gone', async (t) => {
  const queue = await openJobQueue(t)
  await queue.storage.services.remove('svc-1')
  assert.equal(await queue.begin('job-9'), 'its service is being deleted')
})

test('begun again after a crash it is the run that is there, running or over', async (t) => {
  const queue = await openJobQueue(t)
  await queue.is('job-9', 'running')
  assert.equal(await queue.begin('job-9'), null)
  await queue.is('job-9', 'succeeded', { final: true })
  assert.equal(await queue.begin('job-9'), null)
  assert.deepEqual([queue.spawned, await queue.saidBy('job-9')], [[], []])
})
