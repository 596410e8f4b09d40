// What wakes upkeep: an event from before the wait ends it at once, and several events end one wait only.
import { equal } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createWakeSignal } from '../../../../src/effects/deploy/live/wake-signal.ts'
import { createInstanceEvents } from '../../../../src/effects/engine/instance-events.ts'
import { serviceRow } from '../../../support/storage/store-fixtures.ts'
import { temporaryStorage } from '../../../support/supervisor/supervision.ts'

async function openSignal(t: TestContext) {
  const storage = await temporaryStorage(t)
  await storage.commit((commit) => storage.services.insert(commit, serviceRow()))
  const host = { storage, instanceEvents: createInstanceEvents() }
  const signal = createWakeSignal(host, 'dep-1', 'svc-1', () => undefined)
  t.after(() => signal.close())
  /** Whether a wait ends before its time. */
  const isWoken = async (withinMs: number) => {
    const began = performance.now()
    await signal.next(withinMs, t.signal)
    return performance.now() - began < withinMs / 2
  }
  return { storage, signal, isWoken }
}

test('events before the wait end it immediately, and only one wait', async (t) => {
  const { signal, isWoken } = await openSignal(t)
  signal.wake()
  signal.wake()
  equal(await isWoken(10_000), true)
  equal(await isWoken(100), false)
})

test('a change of the service ends a wait', async (t) => {
  const { storage, isWoken } = await openSignal(t)
  const waiting = isWoken(10_000)
  await storage.services.update('svc-1', (row) => ({ ...row, instances: 2 }))
  equal(await waiting, true)
  equal(await isWoken(100), false)
})
