// Every wait ends with its result, its timeout or its signal, and leaks no listener and no timer.
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { abortable } from '../../src/async/abortable.ts'
import { sleep } from '../../src/async/sleep.ts'
import { waitFor } from '../../src/async/wait-for.ts'
import { waitForWake } from '../../src/async/wait-for-wake.ts'

const reason = new Error('canceled')
const aborted = AbortSignal.abort(reason)
const hour = 3_600_000

const listenersOf = (signal: AbortSignal) => getEventListeners(signal, 'abort').length
const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

/** What a wait subscribes to. */
function openSource() {
  const listeners = new Set<() => void>()
  const subscribe = (listener: () => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  return { listeners, subscribe, notify: () => listeners.forEach((listener) => void listener()) }
}

test('a sleep ends after its time or with the reason of its signal', async () => {
  const { signal, ...controller } = open()
  const before = timers()
  await sleep(1)
  await sleep(1, signal)
  assert.equal(listenersOf(signal), 0)
  const long = sleep(hour, signal)
  controller.abort()
  await assert.rejects(long, reason)
  await assert.rejects(sleep(0, aborted), reason)
  assert.deepEqual([listenersOf(signal), timers()], [0, before])
})

test('a sleep without a reference does not keep the process alive', async () => {
  const { signal, abort } = open()
  const before = timers()
  const long = sleep(hour, signal, { ref: false })
  assert.equal(timers(), before)
  abort()
  await assert.rejects(long, reason)
})

test('abortable work settles as the work does', async () => {
  const { signal } = open()
  assert.equal(await abortable(Promise.resolve(7), signal), 7)
  await assert.rejects(abortable(Promise.reject(new Error('failed')), signal), /failed/)
  assert.equal(listenersOf(signal), 0)
})

test('an abort before or during abortable work rejects with its reason', async () => {
  const { signal, abort } = open()
  const waiting = abortable(new Promise(() => {}), signal)
  abort()
  await assert.rejects(waiting, reason)
  await assert.rejects(abortable(new Promise(() => {}), aborted), reason)
  await assert.rejects(abortable(Promise.resolve(7), aborted), reason)
  assert.equal(listenersOf(signal), 0)
})

test('work that fails after the abort causes no unhandled rejection', async () => {
  const { signal, abort } = open()
  let fail = (_: Error) => {}
  const waiting = abortable(new Promise((_, reject) => (fail = reject)), signal)
  abort()
  await assert.rejects(waiting, reason)
  fail(new Error('late'))
  await new Promise((resolve) => setImmediate(resolve))
})

test('a condition that is already true needs no notification', async () => {
  const { subscribe } = openSource()
  const { signal } = open()
  assert.equal(await waitFor(subscribe, () => 7, signal), 7)
  assert.equal(listenersOf(signal), 0)
})

test('a condition is checked after each notification until it is true', async () => {
  const { listeners, subscribe, notify } = openSource()
  const { signal } = open()
  let looks = 0
  const found = waitFor(subscribe, () => (++looks === 3 ? 'found' : null), signal)
  for (const _ of [1, 2, 3, 4]) notify()
  assert.equal(await found, 'found')
  assert.deepEqual([looks, listeners.size, listenersOf(signal)], [3, 0, 0])
})

test('a check that throws ends the wait', async () => {
  const { listeners, subscribe, notify } = openSource()
  const { signal } = open()
  let looks = 0
  const found = waitFor(
    subscribe,
    () => {
      if (++looks === 2) throw new Error('gone')
      return null
    },
    signal,
  )
  notify()
  await assert.rejects(found, /gone/)
  assert.deepEqual([listeners.size, listenersOf(signal)], [0, 0])
})

test('an abort before or during the wait for a condition rejects with its reason', async () => {
  const { listeners, subscribe } = openSource()
  const { signal, abort } = open()
  const waiting = waitFor(subscribe, () => null, signal)
  abort()
  await assert.rejects(waiting, reason)
  const started = waitFor(subscribe, () => assert.fail('it looked'), aborted)
  await assert.rejects(started, reason)
  assert.deepEqual([listeners.size, listenersOf(signal)], [0, 0])
})

test('a wake or the timeout ends the wait for a wake; the signal rejects it', async () => {
  const { signal, abort } = open()
  const before = timers()
  let wake = () => {}
  const listen = (listener: () => void) => {
    wake = listener
  }
  const woken = waitForWake(listen, hour, signal)
  wake()
  await woken
  await waitForWake((listener) => listener(), hour, signal)
  await waitForWake(listen, 1, signal)
  assert.equal(listenersOf(signal), 0)
  const waiting = waitForWake(listen, hour, signal)
  abort()
  await assert.rejects(waiting, reason)
  await assert.rejects(
    waitForWake(() => assert.fail('it listened'), hour, aborted),
    reason,
  )
  assert.deepEqual([listenersOf(signal), timers()], [0, before])
})

function open() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort(reason) }
}
