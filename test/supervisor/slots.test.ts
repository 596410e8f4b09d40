// Effects in slots: fenced, bounded by deadlines, and with failures that can be stored.
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { type TestContext, test } from 'node:test'
import { type AnyActorLogic, type AnyActorRef, createActor, toPromise } from 'xstate'
import type { SlotInput } from '../../machines/slot.ts'
import { Failure } from '../../src/errors.ts'
import { createFences, type Fences } from '../../src/supervisor/fences.ts'
import { fillSlots, type SlotOptions, toError } from '../../src/supervisor/slots.ts'
import { forever } from '../support/machines/machine-run.ts'
import { machine } from '../support/supervisor/sample-machine.ts'
import { eventually, instant } from '../support/supervisor/supervision.ts'

const at = instant
const nowMs = Date.parse(instant)
const day = 24 * 60 * 60 * 1000

type Effect = (input: SlotInput, signal: AbortSignal) => Promise<unknown>

/** The slot `work` of a sample, filled with that effect, and every reported bug. */
function fillWork(t: TestContext, work: Effect, changes: Partial<SlotOptions> = {}) {
  const bugs: unknown[] = []
  const onBug = (...bug: unknown[]) => void bugs.push(bug)
  const options = { fences: createFences(), now: () => nowMs, onBug, onEffect: () => {}, ...changes }
  const filled = fillSlots(machine, { work, clean: forever }, options)
  const logic = filled.implementations.actors.work as AnyActorLogic
  const start = (input: SlotInput = { id: 'err-1' }): AnyActorRef => {
    const actor = createActor(logic, { input })
    actor.subscribe({ error: () => undefined })
    t.after(() => actor.stop())
    return actor.start()
  }
  return { start, bugs }
}

async function waitForFailure(actor: AnyActorRef): Promise<unknown> {
  return toPromise(actor).then(
    () => assert.fail('it succeeded'),
    (error) => error,
  )
}

test('a slot without an effect is reported by name when the daemon starts', () => {
  const options = { fences: createFences(), now: Date.now, onBug: assert.fail, onEffect: () => {} }
  assert.throws(
    () => fillSlots(machine, { work: forever }, options),
    /the machine sample has no effect for its slot clean/,
  )
})

test('an effect receives its input, and its result goes to the chart with the time of its end', async (t) => {
  const { start } = fillWork(t, async (input) => ({ got: input }))
  assert.deepEqual(await toPromise(start({ id: 'err-7' })), { at, got: { id: 'err-7' } })
})

test('an expected failure keeps its code and message, on one line, and is not a bug', async (t) => {
  const { start, bugs } = fillWork(t, async () => {
    throw new Failure('build_failed', 'npm ci failed\n  because of this\n')
  })
  const expected = { code: 'build_failed', message: 'npm ci failed because of this', at }
  assert.deepEqual(await waitForFailure(start()), expected)
  assert.deepEqual(bugs, [])
})

test('an unexpected failure is an internal error and is reported with its stack', async (t) => {
  const bug = new TypeError('x is not a function\nat all')
  const { start, bugs } = fillWork(t, () => Promise.reject(bug))
  const expected = { code: 'internal_error', message: 'internal: x is not a function at all', at }
  assert.deepEqual(await waitForFailure(start()), expected)
  assert.deepEqual(bugs, [['work', 'err-1', bug]])
})

test('an effect that throws synchronously or throws a non-error fails in the same form', async (t) => {
  const throwing: Effect = () => {
    throw new Failure('not_found', 'gone')
  }
  assert.deepEqual(await waitForFailure(fillWork(t, throwing).start()), {
    code: 'not_found',
    message: 'gone',
    at,
  })
  const unusual = fillWork(t, () => Promise.reject('odd'))
  const expected = { code: 'internal_error', message: 'internal: odd', at }
  assert.deepEqual(await waitForFailure(unusual.start()), expected)
})

test('whatever an effect throws after its abort is not a bug', async (t) => {
  let ended = false
  const work: Effect = (_, signal) =>
    forever(signal).catch(() => {
      ended = true
      throw new TypeError('torn down')
    })
  const { start, bugs } = fillWork(t, work)
  const actor = start()
  await new Promise((resolve) => setImmediate(resolve))
  actor.stop()
  await eventually('its end', () => ended)
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(bugs, [])
})

test('at its deadline an effect is aborted with the code timeout, which names the slot', async (t) => {
  const { start } = fillWork(t, (_, signal) => forever(signal))
  const expected = { code: 'timeout', message: 'work took longer than its limit', at }
  assert.deepEqual(await waitForFailure(start({ id: 'err-1', deadlineAt: nowMs + 5 })), expected)
  assert.deepEqual(await waitForFailure(start({ id: 'err-1', deadlineAt: nowMs - day })), expected)
})

test('an effect can describe what the deadline interrupted', async (t) => {
  const unhealthy = new Failure('health_check_failed', 'no answer on port 3000')
  const lookOnceMore = () => new Promise((_, reject) => setTimeout(reject, 20, unhealthy))
  const { start } = fillWork(t, (_, signal) => forever(signal).catch(lookOnceMore))
  const expected = { code: 'health_check_failed', message: 'no answer on port 3000', at }
  assert.deepEqual(await waitForFailure(start({ id: 'err-1', deadlineAt: nowMs })), expected)
})

test('an effect that does not end after its deadline is abandoned, and stays behind the fence', async (t) => {
  const fences = createFences(5)
  const deaf = new Promise<void>(() => undefined)
  const { start } = fillWork(t, () => deaf, { fences, graceMs: 5 })
  const failure = await waitForFailure(start({ id: 'err-1', deadlineAt: nowMs }))
  assert.deepEqual(failure, { code: 'timeout', message: 'work took longer than its limit', at })
  assert.ok((await fences.pass('err-1')).late)
})

test('a deadline more than 24 days away does not fire immediately', async (t) => {
  const { start } = fillWork(t, (_, signal) =>
    Promise.race([forever(signal), new Promise((resolve) => setTimeout(resolve, 20, { at }))]),
  )
  assert.deepEqual(await toPromise(start({ id: 'err-1', deadlineAt: nowMs + 30 * day })), { at })
})

test('an effect restored with the daemon has at least half a minute', async (t) => {
  const { start } = fillWork(t, async (input) => ({ at, got: input.deadlineAt }), { isRestoring: () => true })
  const left = [nowMs - day, nowMs + 29_999, nowMs + 60_000]
  const got = await Promise.all(left.map((deadlineAt) => toPromise(start({ id: 'err-1', deadlineAt }))))
  assert.deepEqual(
    got,
    [30_000, 30_000, 60_000].map((ms) => ({ at, got: nowMs + ms })),
  )
  const untimed = fillWork(t, async (input) => ({ at, got: input }), { isRestoring: () => true })
  assert.deepEqual(await toPromise(untimed.start()), { at, got: { id: 'err-1' } })
})

test('an effect starts when the aborted one of its actor has ended', async (t) => {
  const order: string[] = []
  let endFirst = () => {}
  const work: Effect = (_, signal) => {
    order.push('began')
    if (order.length > 1) return Promise.resolve({ at })
    return new Promise((_resolve, reject) => {
      endFirst = () => {
        order.push('first ended')
        reject(signal.reason)
      }
    })
  }
  const { start } = fillWork(t, work)
  const first = start()
  await eventually('the first', () => order.length === 1)
  first.stop()
  const second = start()
  await new Promise((resolve) => setImmediate(resolve))
  endFirst()
  await toPromise(second)
  assert.deepEqual(order, ['began', 'first ended', 'began'])
})

test('an effect that was aborted while it waited at the fence never starts', async (t) => {
  let started = 0
  let end: (value: unknown) => void = () => undefined
  const { start } = fillWork(t, () => {
    started++
    return new Promise((resolve) => (end = resolve))
  })
  const first = start()
  await eventually('the first', () => started === 1)
  first.stop()
  start().stop()
  end({ at })
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(started, 1)
})

test('an effect that started before a late one ended is repeated after it, and awaited', async (t) => {
  let started = 0
  let endLate = () => {}
  let endRepetition = () => {}
  const work: Effect = () => {
    started++
    if (started === 2) return Promise.resolve({ at })
    return new Promise((resolve) => {
      const end = () => resolve({ at })
      if (started === 1) endLate = end
      else endRepetition = end
    })
  }
  const fences = createFences(5)
  const { start } = fillWork(t, work, { fences, cleanups: ['work'] })
  const first = start()
  await eventually('the first', () => started === 1)
  first.stop()
  await toPromise(start())
  assert.equal(started, 2)
  endLate()
  await eventually('the repetition', () => started === 3)
  const settled = fences.settled(30_000).then(() => 'settled')
  const waits = new Promise((resolve) => setImmediate(resolve, 'still waiting'))
  assert.equal(await Promise.race([settled, waits]), 'still waiting')
  endRepetition()
  assert.equal(await settled, 'settled')
})

test('a failure that the chart does not handle is an error with its code and message', () => {
  const foreseen = toError({ code: 'commit_failed', message: 'no space left', at }) as Failure
  const bug = toError({ code: 'internal_error', message: 'internal: x is not a function', at }) as Failure
  assert.deepEqual(
    [foreseen, bug].map(({ code, message }) => [code, message]),
    [
      ['commit_failed', 'no space left'],
      ['internal_error', 'x is not a function'],
    ],
  )
  const thrown = new Failure('not_found', 'from the chart itself')
  assert.equal(toError(thrown), thrown)
  const unusual = ['odd', undefined, { code: 'half' }, { message: 'half' }]
  assert.deepEqual(unusual.map(toError), unusual)
})

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
