// The turn of a run: which run waits by the policy of the schedule, and what is frozen at the turn.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openJobQueue } from '../../support/effects/job-queue.ts'
import { eventually } from '../../support/supervisor/supervision.ts'

/** The result of a promise, or `waits` if it is still pending after 20 ms. */
async function settle(promise: Promise<unknown>): Promise<unknown> {
  const later = new Promise((resolve) => setTimeout(resolve, 20, 'waits'))
  return Promise.race([promise, later])
}

const live = { deployId: 'dep-1', image: 'berth/shop:dep-1', command: 'npm run report' }

test('a run without predecessors gets its turn immediately, on the live version', async (t) => {
  const queue = await openJobQueue(t)
  await queue.is('job-1', 'pending')
  await queue.deploy('dep-2', null)
  const turn = await queue.ask('job-1')
  assert.deepEqual(turn, { deployId: 'dep-2', image: 'berth/shop:dep-2', command: null })
  assert.deepEqual(await queue.saidBy('job-1'), [])
})

test('a one-off command runs in parallel with all others, unchanged', async (t) => {
  const queue = await openJobQueue(t)
  await queue.is('job-1', 'running')
  await queue.is('job-2', 'pending', { overlap: null })
  assert.deepEqual(await queue.ask('job-2', null, { command: 'ls' }), { ...live, command: 'ls' })
})

for (const overlap of ['skip', 'queue'] as const) {
  for (const status of ['pending', 'running', 'canceled'] as const) {
    test(`${overlap}: a run waits for a predecessor that is ${status} until it is removed`, async (t) => {
      const queue = await openJobQueue(t)
      await queue.is('job-1', status)
      await queue.is('job-2', 'pending')
      const requested = queue.ask('job-2', overlap)
      assert.equal(await settle(requested), 'waits')
      await queue.untilSaid('job-2')
      await queue.is('job-1', status)
      assert.equal(await settle(requested), 'waits')

      await queue.is('job-1', status, { final: true })

      assert.deepEqual(await requested, live)
      assert.deepEqual(await queue.saidBy('job-2'), ['waiting for job-1 of this service to end'])
      assert.deepEqual(queue.sent, [])
    })
  }
}

test('a run that has ended does not block, although its container still exists', async (t) => {
  for (const status of ['succeeded', 'failed'] as const) {
    const queue = await openJobQueue(t)
    await queue.is('job-1', status)
    await queue.is('job-2', 'pending')
    assert.deepEqual(await queue.ask('job-2'), live)
    assert.deepEqual(await queue.saidBy('job-2'), [])
  }
})

test('runs do not wait for newer ones, one-off commands or other services', async (t) => {
  const queue = await openJobQueue(t)
  await queue.is('job-1', 'running', { overlap: null })
  await queue.is('job-2', 'running', { service_id: 'svc-10' })
  await queue.is('job-3', 'pending')
  await queue.is('job-4', 'pending')
  assert.deepEqual(await queue.ask('job-3'), live)
})

test('runs get their turns in order of request, one at a time', async (t) => {
  const queue = await openJobQueue(t)
  const ids = ['job-1', 'job-2', 'job-3', 'job-4']
  const order: string[] = []
  for (const id of ids) await queue.is(id, 'pending')
  const turns = [...ids].reverse().map((id) => queue.ask(id, 'queue').then(() => order.push(id)))
  for (const [index, id] of ids.entries()) {
    await eventually(`${id} has its turn`, () => order.length > index)
    await settle(new Promise(() => undefined))
    assert.deepEqual(order, ids.slice(0, index + 1))
    await queue.is(id, 'running')
    queue.jobSlots.release(id)
    await queue.is(id, 'succeeded', { final: true })
  }
  await Promise.all(turns)
  assert.deepEqual(await queue.saidBy('job-4'), [
    ...['job-1', 'job-2', 'job-3'].map((id) => `waiting for ${id} of this service to end`),
  ])
})

test('replace: earlier runs are canceled, and the new one waits until they are removed', async (t) => {
  const queue = await openJobQueue(t)
  await queue.is('job-0', 'running', { overlap: null })
  await queue.is('job-1', 'running')
  await queue.is('job-2', 'pending')
  await queue.is('job-3', 'canceled')
  await queue.is('job-4', 'pending')
  await queue.is('job-5', 'pending')
  const requested = queue.ask('job-4', 'replace')
  assert.equal(await settle(requested), 'waits')
  const by = 'job-4, which replaces it'
  await eventually('three cancels', () => queue.sent.length >= 3)
  assert.deepEqual(
    queue.sent,
    ['job-1', 'job-2', 'job-3'].map((id) => [id, 'cancel', by]),
  )
  for (const id of ['job-1', 'job-2', 'job-3']) {
    assert.equal(await settle(requested), 'waits')
    await queue.is(id, 'canceled', { final: true })
  }
  assert.deepEqual(await requested, live)
})

test('a waiting run gives up when its service is suspended, deleted or removed', async (t) => {
  const queue = await openJobQueue(t)
  await queue.is('job-1', 'running')
  await queue.is('job-2', 'pending')
  const message = 'canceled by the suspension of its service'
  const requested = queue.ask('job-2')
  await settle(requested)
  await queue.change({ suspended: true })
  await assert.rejects(requested, { code: 'withdrawn', message })
  await assert.rejects(queue.ask('job-2'), { code: 'withdrawn', message })

  await queue.change({ suspended: false })
  const again = queue.ask('job-2')
  await settle(again)
  await queue.change({ deleting: true })
  const removal = { code: 'withdrawn', message: 'canceled by the removal of its service' }
  await assert.rejects(again, removal)
  await queue.storage.services.remove('svc-1')
  await assert.rejects(queue.ask('job-2'), removal)
})

test('a run that is canceled while it waits keeps no slot', async (t) => {
  const queue = await openJobQueue(t, { slots: 1 })
  await queue.is('job-1', 'running')
  await queue.is('job-2', 'pending')
  const controller = new AbortController()
  const requested = queue.ask('job-2', 'skip', { signal: controller.signal })
  await settle(requested)
  const reason = new Error('canceled')
  controller.abort(reason)
  await assert.rejects(requested, reason)
  await queue.is('job-2', 'canceled', { final: true })
  await queue.is('job-1', 'succeeded', { final: true })
  await queue.is('job-3', 'pending')
  assert.deepEqual(await queue.ask('job-3'), live)
})

test('a run without a free slot logs it, and gets its turn when one is released', async (t) => {
  const queue = await openJobQueue(t, { slots: 1 })
  for (const id of ['job-1', 'job-2']) await queue.is(id, 'pending', { overlap: null })
  await queue.ask('job-1', null)
  const requested = queue.ask('job-2', null)
  assert.equal(await settle(requested), 'waits')
  await queue.untilSaid('job-2')
  assert.deepEqual(await queue.saidBy('job-2'), [
    'waiting for a free slot: 1 job runs are running (--job-concurrency)',
  ])
  queue.jobSlots.release('job-1')
  assert.deepEqual(await requested, live)
})

test('a deploy that goes live while a run waits for its slot is what it runs on', async (t) => {
  const queue = await openJobQueue(t, { slots: 1 })
  for (const id of ['job-1', 'job-2']) await queue.is(id, 'pending', { overlap: null })
  await queue.ask('job-1', null)
  const requested = queue.ask('job-2', null)
  await settle(requested)
  await queue.deploy('dep-2')
  queue.jobSlots.release('job-1')
  assert.equal((await requested).deployId, 'dep-2')
})

test('a run without a live deploy fails instead of waiting', async (t) => {
  const queue = await openJobQueue(t, { isDeployed: false })
  await queue.is('job-1', 'pending')
  const message = 'its service is no longer live'
  await assert.rejects(queue.ask('job-1'), { code: 'conflict', message })
})

test('no run gets its turn before the engine responds', async (t) => {
  let response = () => {}
  const engineReady = new Promise<object>((resolve) => {
    response = () => resolve({})
  })
  const queue = await openJobQueue(t, { engineReady })
  await queue.is('job-1', 'pending')
  const requested = queue.ask('job-1')
  assert.equal(await settle(requested), 'waits')
  response()
  assert.deepEqual(await requested, live)
})
