// Waiting for commits and for the engine: each wait ends with its result or its signal, and leaves no
// listener behind.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EnginePorts } from '../../src/effects/engine/ports.ts'
import { retryWhileEngineUnavailable, waitForCommit } from '../../src/effects/waiting.ts'
import { Failure } from '../../src/errors.ts'
import { createChanges } from '../../storage/store/changes.ts'
import { standIn } from '../support/effects/stand-in.ts'

const neverAborted = new AbortController().signal
const reason = new Error('canceled')

/** A change feed that the test controls, and the number of its listeners. */
function openFeed() {
  const { publish, feed } = createChanges(0)
  let listeners = 0
  const subscribe: typeof feed.subscribe = (listener) => {
    listeners++
    const unsubscribe = feed.subscribe(listener)
    return () => {
      listeners--
      unsubscribe()
    }
  }
  const change = (service_id: string | null) =>
    publish([
      { number: 1, kind: 'deploy', id: 'dep-1', service_id, status: 'live', revision: 1, transition: null },
    ])
  return { feed: { ...feed, subscribe }, change, listeners: () => listeners }
}

test('a condition that is already true needs no change', async () => {
  const { feed, listeners } = openFeed()
  assert.equal(await waitForCommit(feed, 'svc-1', neverAborted, () => 7), 7)
  assert.equal(listeners(), 0)
})

test('the condition is checked after each change of its service, and of no other', async () => {
  const { feed, change, listeners } = openFeed()
  let looks = 0
  const found = waitForCommit(feed, 'svc-1', neverAborted, () => (++looks === 3 ? 'found' : null))
  for (const serviceId of ['svc-2', 'svc-1', null, 'svc-10']) change(serviceId)
  assert.equal(looks, 2)
  change('svc-1')
  assert.equal(await found, 'found')
  assert.equal(listeners(), 0)
})

test('a check that throws ends the wait', async () => {
  const { feed, change, listeners } = openFeed()
  let looks = 0
  const found = waitForCommit(feed, 'svc-1', neverAborted, () => {
    if (++looks === 2) throw new Failure('not_found', 'gone')
    return null
  })
  change('svc-1')
  await assert.rejects(found, { code: 'not_found' })
  assert.equal(listeners(), 0)
})

test('the signal ends the wait for a change, even if it was already aborted', async () => {
  const { feed, listeners } = openFeed()
  const controller = new AbortController()
  const found = waitForCommit(feed, 'svc-1', controller.signal, () => null)
  controller.abort(reason)
  await assert.rejects(found, reason)
  await assert.rejects(
    waitForCommit(feed, 'svc-1', AbortSignal.abort(reason), () => null),
    reason,
  )
  assert.equal(listeners(), 0)
})

test('work during which the engine disappeared is repeated from the start when it is back', async () => {
  const steps: string[] = []
  const ports = standIn<EnginePorts>({
    engineReady: async () => {
      steps.push('the engine is back')
      return {}
    },
  })
  const work = async () => {
    steps.push('work')
    if (steps.length === 1) throw new Failure('docker_unavailable', 'gone')
    return 'done'
  }
  assert.equal(await retryWhileEngineUnavailable(ports, neverAborted, work, () => steps.push('gone')), 'done')
  assert.deepEqual(steps, ['work', 'gone', 'the engine is back', 'work'])
})

test('other failures are not retried', async () => {
  let attempts = 0
  const work = () => {
    attempts++
    return Promise.reject(new Failure('docker_error', 'refused'))
  }
  await assert.rejects(retryWhileEngineUnavailable(standIn<EnginePorts>({}), neverAborted, work), {
    code: 'docker_error',
  })
  assert.equal(attempts, 1)
})

test('the wait for an engine ends with the abort', async () => {
  const controller = new AbortController()
  const work = () => Promise.reject(new Failure('docker_unavailable', 'gone'))
  const working = retryWhileEngineUnavailable(standIn<EnginePorts>({}), controller.signal, work, () =>
    controller.abort(reason),
  )
  await assert.rejects(working, reason)
  await assert.rejects(
    retryWhileEngineUnavailable(standIn<EnginePorts>({}), controller.signal, () => assert.fail('it began')),
    reason,
  )
})
