// Timeouts and linked signals: what ends the work, what callers get, and that no timer or listener leaks.
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { abortable } from '../../src/async/abortable.ts'
import { withLinkedSignal } from '../../src/async/linked-signal.ts'
import { settleWithin } from '../../src/async/settle-within.ts'
import { withTimeout } from '../../src/async/with-timeout.ts'

const reason = new Error('canceled')
const hour = 3_600_000

const listenersOf = (signal: AbortSignal) => getEventListeners(signal, 'abort').length
const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
const untilAborted = (signal: AbortSignal) => abortable(new Promise<never>(() => {}), signal)

test('work that finishes in time settles normally, and its timer is removed', async () => {
  const { signal } = new AbortController()
  const before = timers()
  assert.equal(await withTimeout(hour, signal, async () => 7), 7)
  const failing = withTimeout(hour, signal, () => Promise.reject(new Error('failed')))
  await assert.rejects(failing, /failed/)
  assert.deepEqual([listenersOf(signal), timers()], [0, before])
})

test('late work ends with the code `timeout`, or with the given error', async () => {
  const { signal } = new AbortController()
  await assert.rejects(withTimeout(1, signal, untilAborted), { code: 'timeout' })
  await assert.rejects(withTimeout(1, undefined, untilAborted), { code: 'timeout' })
  const late = new Error('no response')
  await assert.rejects(withTimeout(1, signal, untilAborted, late), late)
  assert.equal(listenersOf(signal), 0)
})

test('the message of a timeout contains its seconds', async () => {
  const work = async (signal: AbortSignal) => {
    signal.throwIfAborted()
    await untilAborted(signal)
  }
  await assert.rejects(withTimeout(0, undefined, work), /^Error: it took longer than 0\.0s$/)
})

test('an abort before or during work with a timeout ends it with the reason of the abort', async () => {
  const controller = new AbortController()
  const before = timers()
  const working = withTimeout(hour, controller.signal, untilAborted)
  controller.abort(reason)
  await assert.rejects(working, reason)
  await assert.rejects(withTimeout(hour, AbortSignal.abort(reason), untilAborted), reason)
  assert.deepEqual([listenersOf(controller.signal), timers()], [0, before])
})

test('the reason of an abort replaces the error of aborted work', async () => {
  const controller = new AbortController()
  const working = withTimeout(hour, controller.signal, async (signal) => {
    await untilAborted(signal).catch(() => assert.fail('a consequence of the abort'))
  })
  controller.abort(reason)
  await assert.rejects(working, reason)
})

test('a linked signal ends with its watch, and the watch ends with the work', async () => {
  const { signal } = new AbortController()
  let watches = 0
  let endIt = (_: unknown) => {}
  const watch = (end: (reason: unknown) => void) => {
    watches++
    endIt = end
    return () => void watches--
  }
  assert.equal(await withLinkedSignal(signal, watch, async () => watches), 1)
  assert.equal(watches, 0)
  const working = withLinkedSignal(signal, watch, untilAborted)
  endIt(reason)
  await assert.rejects(working, reason)
  assert.deepEqual([watches, listenersOf(signal)], [0, 0])
})

test('a promise that settles in time returns its result, a late one the alternative', async () => {
  const before = timers()
  assert.equal(await settleWithin(Promise.resolve(7), hour, 'late'), 7)
  await assert.rejects(settleWithin(Promise.reject(reason), hour, 'late'), reason)
  assert.equal(await settleWithin(new Promise(() => {}), 1, 'late'), 'late')
  assert.equal(timers(), before)
})
