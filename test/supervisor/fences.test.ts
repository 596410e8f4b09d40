// Fences: an effect waits for aborted effects of its own actor, within a limit, and for no other actor.
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { createFences, type Fences } from '../../src/supervisor/fences.ts'

/** A running effect that the test aborts and ends. */
function guarded(fences: Fences, actorId: string) {
  const controller = new AbortController()
  let end = () => {}
  let fail = (_: Error) => {}
  const work = new Promise<void>((resolve, reject) => {
    end = resolve
    fail = reject
  })
  const result = fences.guard(actorId, controller.signal, work)
  return { abort: () => controller.abort(), end, fail, result }
}

/** Records when a promise settles, without waiting for it. */
function recordSettled(order: string[], name: string, promise: Promise<unknown>): Promise<void> {
  return promise.then(() => void order.push(name))
}

test('no listener remains on the signal of an ended effect', async () => {
  const fences = createFences()
  const { signal } = new AbortController()
  void fences.guard('dep-1', signal, Promise.resolve())
  assert.equal(getEventListeners(signal, 'abort').length, 1)
  await fences.settled(1000)
  assert.deepEqual(getEventListeners(signal, 'abort'), [])
})

test('an effect that was not aborted does not block the fence', async () => {
  const fences = createFences()
  const effect = guarded(fences, 'dep-1')
  assert.deepEqual(await fences.pass('dep-1'), { late: null })
  effect.end()
})

test('the fence opens when every aborted effect of the actor has ended, successfully or not', async () => {
  const fences = createFences()
  const [one, two] = [guarded(fences, 'dep-1'), guarded(fences, 'dep-1')]
  const order: string[] = []
  one.abort()
  two.abort()
  const passing = recordSettled(order, 'passed', fences.pass('dep-1'))
  one.end()
  await recordSettled(order, 'one ended', one.result)
  two.fail(new Error('aborted'))
  await recordSettled(
    order,
    'two ended',
    two.result.catch(() => undefined),
  )
  await passing
  assert.deepEqual(order, ['one ended', 'two ended', 'passed'])
})

test('the end of one effect does not open the fence while another is still running', async () => {
  const fences = createFences(5)
  const [ended, aborted] = [guarded(fences, 'dep-1'), guarded(fences, 'dep-1')]
  aborted.abort()
  ended.end()
  await new Promise((resolve) => setImmediate(resolve))
  assert.ok((await fences.pass('dep-1')).late)
})

test('an effect that started with an aborted signal counts as aborted', async () => {
  const fences = createFences(5)
  const never = new Promise<void>(() => undefined)
  void fences.guard('dep-1', AbortSignal.abort(), never)
  assert.ok((await fences.pass('dep-1')).late)
})

test('aborted effects of another actor do not block the fence', async () => {
  const fences = createFences()
  const effect = guarded(fences, 'dep-1')
  effect.abort()
  assert.deepEqual(await fences.pass('dep-10'), { late: null })
  effect.end()
})

test('the fence opens after its time limit, and reports when the late effect ends', async () => {
  const fences = createFences(5)
  const effect = guarded(fences, 'dep-1')
  effect.abort()
  const { late } = await fences.pass('dep-1')
  const order: string[] = []
  const reported = recordSettled(order, 'late ended', late!)
  await new Promise((resolve) => setImmediate(resolve))
  order.push('passed')
  effect.end()
  await reported
  assert.deepEqual(order, ['passed', 'late ended'])
})

test('ended effects are removed, and the fence is open again', async () => {
  const fences = createFences()
  const effect = guarded(fences, 'dep-1')
  effect.abort()
  effect.end()
  await effect.result
  assert.deepEqual(await fences.pass('dep-1'), { late: null })
})

test('a guard returns the result of the work', async () => {
  const fences = createFences()
  const signal = new AbortController().signal
  assert.equal(await fences.guard('dep-1', signal, Promise.resolve(7)), 7)
  await assert.rejects(fences.guard('dep-1', signal, Promise.reject(new Error('broken'))), /broken/)
})

test('settled waits for every effect of every actor, aborted or not', async () => {
  const fences = createFences()
  const [one, two] = [guarded(fences, 'dep-1'), guarded(fences, 'dep-2')]
  const order: string[] = []
  one.abort()
  const settling = recordSettled(order, 'settled', fences.settled(30_000))
  one.end()
  await recordSettled(order, 'one ended', one.result)
  two.end()
  await recordSettled(order, 'two ended', two.result)
  await settling
  assert.deepEqual(order, ['one ended', 'two ended', 'settled'])
})

test('settled stops waiting for an effect that does not end', async () => {
  const fences = createFences()
  guarded(fences, 'dep-1').abort()
  await fences.settled(5)
})
