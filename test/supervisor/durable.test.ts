// The write-ahead journal: what runs before the commit, what after it, and what never.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AnyActorRef, createActor, fromPromise } from 'xstate'
import type { SlotInput, SlotOutput } from '../../machines/slot.ts'
import { type Journal, makeDurable } from '../../src/supervisor/durable.ts'
import { forever } from '../support/machines/machine-run.ts'
import { machine } from '../support/supervisor/sample-machine.ts'
import { eventually, instant } from '../support/supervisor/supervision.ts'

const at = instant

/** A sample whose journal records its calls. No effect runs before the test allows it. */
function openSample(work: (signal: AbortSignal) => Promise<{ at: string }> = forever) {
  const reports: string[] = []
  const acts: (() => void)[] = []
  const actors = {
    work: fromPromise<SlotOutput, SlotInput>(({ signal }) => {
      reports.push('work began')
      signal.addEventListener('abort', () => reports.push('work aborted'))
      return work(signal)
    }),
    clean: fromPromise<SlotOutput, SlotInput>(({ signal }) => {
      reports.push('cleanup began')
      return forever(signal)
    }),
  }
  const journal: Journal = {
    transitioned(before, next, event, act) {
      reports.push(`${before.value} -> ${next.value} by ${event.type}`)
      acts.push(act)
    },
    ignored: (event) => reports.push(`ignored ${event.type}`),
    rejected: (event, error) => reports.push(`rejected ${event.type}: ${(error as Error).message}`),
    failed: (...args) => reports.push(`failed: ${JSON.stringify(args.at(-1))}`),
  }
  const durable = makeDurable(machine.provide({ actors }), journal)
  const actor: AnyActorRef = createActor(durable, { input: { id: 'err-1' } })
  actor.subscribe({ error: () => undefined })
  return { actor, told: reports, commit: () => acts.shift()!() }
}

test('an actor that is created but not started has no effects', () => {
  const { actor, told: reports } = openSample()
  assert.deepEqual([actor.getSnapshot().value, reports], ['working', []])
})

test('effects of the left state abort before the commit; those of the new state start after it', () => {
  const { actor, told: reports, commit } = openSample()
  actor.start()
  actor.send({ type: 'cancel', at })
  const before = [...reports]
  commit()
  assert.deepEqual(before, ['work began', 'work aborted', 'working -> cleaning by cancel'])
  assert.deepEqual(reports.slice(before.length), ['cleanup began'])
})

test('a commit that never completes starts nothing', async () => {
  const { actor, told: reports } = openSample()
  actor.start()
  actor.send({ type: 'cancel', at })
  await new Promise((resolve) => setImmediate(resolve))
  assert.ok(!reports.includes('cleanup began'))
})

test('the result of an effect is a transition like any other', async () => {
  const { actor, told: reports } = openSample(async () => ({ at }))
  actor.start()
  await eventually('the end', () => actor.getSnapshot().status === 'done')
  assert.deepEqual(reports, ['work began', 'working -> done by xstate.done.actor.work'])
})

test('an aborted effect cannot reach the next state, before or after the commit', async () => {
  let reject: (error: unknown) => void = () => undefined
  const { actor, told: reports, commit } = openSample(() => new Promise((_, fail) => (reject = fail)))
  actor.start()
  actor.send({ type: 'cancel', at })
  reject({ code: 'aborted', message: 'late', at })
  await new Promise((resolve) => setImmediate(resolve))
  commit()
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(actor.getSnapshot().value, 'cleaning')
  assert.deepEqual(reports.slice(-2), ['working -> cleaning by cancel', 'cleanup began'])
})

test('an event that the chart does not handle is ignored, and the snapshot is the same object', () => {
  const { actor, told: reports } = openSample()
  actor.start()
  actor.send({ type: 'cancel', at })
  const before = actor.getSnapshot()
  actor.send({ type: 'note', at })
  assert.equal(actor.getSnapshot(), before)
  assert.equal(reports.at(-1), 'ignored note')
})

test('an exception inside the chart rejects the event, and the effects keep running', () => {
  const { actor, told: reports } = openSample()
  actor.start()
  const before = actor.getSnapshot()
  actor.send({ type: 'explode', at })
  assert.equal(actor.getSnapshot(), before)
  assert.match(reports.at(-1)!, /^rejected explode: .*boom/s)
  assert.ok(!reports.includes('work aborted'))
})

test('a failure that the chart does not handle is reported and is not a transition', async () => {
  const { actor, told: reports } = openSample(() => Promise.reject({ code: 'bug', message: 'odd', at }))
  actor.start()
  await eventually('the failure', () => actor.getSnapshot().status === 'error')
  assert.deepEqual(reports, ['work began', `failed: {"code":"bug","message":"odd","at":"${at}"}`])
})

test('stopping aborts running effects and is never journaled', () => {
  const { actor, told: reports } = openSample()
  actor.start()
  actor.stop()
  assert.deepEqual(reports, ['work began', 'work aborted'])
})

test('a commit that completes after the stop starts nothing', () => {
  const { actor, told: reports, commit } = openSample()
  actor.start()
  actor.send({ type: 'cancel', at })
  actor.stop()
  commit()
  assert.equal(reports.at(-1), 'working -> cleaning by cancel')
})
