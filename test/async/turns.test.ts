// Turns: bounded, first come, first served, and none is lost when a waiting caller aborts.
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import pLimit, { type LimitFunction } from 'p-limit'
import { inTurn } from '../../src/async/in-turn.ts'
import { KeyedMutex } from '../../src/async/keyed-mutex.ts'

const neverAborted = new AbortController().signal
const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Resolves when the work gets its turn, with the function that ends the work. */
function take(turns: LimitFunction, signal: AbortSignal, onWait?: (running: number) => void) {
  return new Promise<() => void>((resolve, reject) => {
    inTurn(turns, signal, () => new Promise<void>((end) => resolve(end)), onWait).catch(reject)
  })
}

test('as many builds run as there are slots; the others wait and learn how many run', async () => {
  const slots = pLimit(2)
  const reported: number[] = []
  const onWait = (running: number) => void reported.push(running)
  const [first] = await Promise.all([take(slots, neverAborted, onWait), take(slots, neverAborted, onWait)])
  let third: (() => void) | null = null
  const waiting = take(slots, neverAborted, onWait).then((giveBack) => (third = giveBack))
  await turn()
  assert.deepEqual([reported, third], [[2], null])

  first!()

  await waiting
  assert.notEqual(third, null)
})

test('the longest waiter is next', async () => {
  const slots = pLimit(1)
  const order: string[] = []
  const build = async (name: string) => {
    const giveBack = await take(slots, neverAborted)
    order.push(name)
    await turn()
    giveBack()
  }

  await Promise.all(['a', 'b', 'c', 'd'].map(build))

  assert.deepEqual(order, ['a', 'b', 'c', 'd'])
})

test('a waiter that is aborted leaves the queue and takes no slot', async () => {
  const slots = pLimit(1)
  const giveBack = await take(slots, neverAborted)
  const controller = new AbortController()
  const left = take(slots, controller.signal)
  const next = take(slots, neverAborted)
  const reason = new Error('canceled')

  controller.abort(reason)

  await assert.rejects(left, reason)
  giveBack()
  await next
})

test('an aborted caller does not enter the queue', async () => {
  const slots = pLimit(1)
  await assert.rejects(
    take(slots, AbortSignal.abort(new Error('canceled')), () => assert.fail('it waited')),
    /canceled/,
  )
  await take(slots, neverAborted, () => assert.fail('a slot was lost'))
})

test('an abort after the slot was acquired does not release it', async () => {
  const slots = pLimit(1)
  const controller = new AbortController()
  await take(slots, controller.signal)
  controller.abort()
  let isFree = false
  void take(slots, neverAborted).then(() => (isFree = true))
  await turn()
  assert.equal(isFree, false)
})

test('a turn leaves no listener on the signal', async () => {
  const { signal } = new AbortController()
  const turns = pLimit(1)
  const results = [1, 2].map((number) => inTurn(turns, signal, async () => number))
  assert.deepEqual(await Promise.all(results), [1, 2])
  const failing = inTurn(turns, signal, () => Promise.reject(new Error('failed')))
  await assert.rejects(failing, /failed/)
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})

test('work with one key runs sequentially, and other keys do not wait', async () => {
  const mutex = new KeyedMutex()
  const steps: string[] = []
  let end = () => {}
  const first = mutex.run('a', neverAborted, () => new Promise<void>((resolve) => (end = resolve)))
  const second = mutex.run('a', neverAborted, async () => void steps.push('second'))
  await mutex.run('b', neverAborted, async () => void steps.push('other key'))
  await turn()
  assert.deepEqual(steps, ['other key'])
  end()
  await Promise.all([first, second])
  assert.deepEqual(steps, ['other key', 'second'])
})

test('aborting a caller that waits for a key does not admit the next one', async () => {
  const mutex = new KeyedMutex()
  const controller = new AbortController()
  let end = () => {}
  let isIn = false
  const first = mutex.run('a', neverAborted, () => new Promise<void>((resolve) => (end = resolve)))
  const second = mutex.run('a', controller.signal, async () => assert.fail('it was aborted'))
  controller.abort(new Error('canceled'))
  await assert.rejects(second, /canceled/)
  const third = mutex.run('a', neverAborted, async () => {
    isIn = true
  })
  await turn()
  assert.equal(isIn, false)
  end()
  await Promise.all([first, third])
  assert.equal(isIn, true)
})
