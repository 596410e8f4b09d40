// What the transitions of charts write, and that nothing happens before it is written.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type AnyActorRef,
  type AnyMachineSnapshot,
  createActor,
  createMachine,
  type EventObject,
  fromPromise,
  getInitialSnapshot,
  getNextSnapshot,
} from 'xstate'
import { catalogue, type Kind } from '../../machines/index.ts'
import type { SlotInput, SlotOutput } from '../../machines/slot.ts'
import { type Journal, makeDurable } from '../../src/supervisor/durable.ts'
import { toTransition } from '../../src/supervisor/transition.ts'
import { deployInput, failure, grantedTurn } from '../support/machines/deploy-chart.ts'
import { forever } from '../support/machines/machine-run.ts'
import { machine } from '../support/supervisor/sample-machine.ts'
import { eventually, instant } from '../support/supervisor/supervision.ts'

const later = '2026-01-01T00:00:05.000Z'
const row = { id: 'dep-1', kind: 'deploy', revision: 2, restarts: 1 }
const { deploy } = catalogue
const queued = getInitialSnapshot(deploy.machine, deployInput()) as AnyMachineSnapshot

const done = (slot: string, output: object) => ({ type: `xstate.done.actor.${slot}`, output }) as EventObject

function next(before: AnyMachineSnapshot, event: EventObject): AnyMachineSnapshot {
  return getNextSnapshot(deploy.machine, before as never, event as never) as AnyMachineSnapshot
}

function transitionOf(before: AnyMachineSnapshot, event: EventObject, eventId: string | null = null) {
  const move = { row, before, next: next(before, event), event, eventId, at: instant }
  return toTransition(deploy as Kind, deploy.machine, move)
}

test('a phase is named in the history with the effect that led to it and its time', () => {
  const event = done('awaitTurn', { ...grantedTurn, at: later })
  const { entry } = transitionOf(queued, event)
  const state = 'running.fetching'
  const seen = { state, status: 'running', phase: 'fetching', by: null }
  assert.deepEqual(entry, { at: later, event: 'awaitTurn.done', ...seen })
})

test('failures and commands are named too', () => {
  const failed = { type: 'xstate.error.actor.awaitTurn', error: { ...failure, at: later } } as EventObject
  const ada = { kind: 'token', id: 'tok-1', name: 'Ada' }
  const cancel = { type: 'cancel', at: later, by: 'token Ada', asker: ada } as EventObject
  assert.deepEqual(
    [failed, cancel].map((event) => transitionOf(queued, event).entry),
    [
      { at: later, event: 'awaitTurn.failed', state: 'failing', status: 'failed', phase: null, by: null },
      { at: later, event: 'cancel', state: 'canceling', status: 'canceled', phase: null, by: ada },
    ],
  )
})

test('the creating event is called created, and an event without a time gets the current one', () => {
  const move = { row, before: null, next: queued, event: { type: 'xstate.init' }, eventId: null, at: instant }
  const { entry, service } = toTransition(deploy as Kind, deploy.machine, move)
  assert.deepEqual(entry, {
    at: instant,
    event: 'created',
    state: 'queued',
    status: 'queued',
    phase: null,
    by: null,
  })
  assert.equal(service, null)
})

test('the row contains the snapshot as JSON, the chart version and the owner', () => {
  const cancel = { type: 'cancel', at: later, by: 'Ada' } as EventObject
  const { row: written, record, event } = transitionOf(queued, cancel, 'key-1')
  const { snapshot, ...rest } = written
  assert.deepEqual(rest, { ...row, service_id: 'svc-1', version: deploy.version, final: false, parked: null })
  assert.deepEqual(JSON.parse(JSON.stringify(snapshot)).value, 'canceling')
  assert.deepEqual(record, { ...deploy.toRecord(next(queued, cancel) as never), revision: 2, by: null })
  assert.equal(event, 'key-1')
})

test('the last state is final', () => {
  const canceling = next(queued, { type: 'cancel', at: later, by: 'Ada' } as EventObject)
  const { row: written, entry } = transitionOf(canceling, done('removeTraces', { at: later }))
  assert.deepEqual([written.final, entry.state, entry.event], [true, 'canceled', 'removeTraces.done'])
})

test('the effect of a transition on its service is derived from both snapshots', () => {
  const path = ['awaitTurn', 'fetchSource', 'buildImage', 'startInstances', 'probeInstances', 'switchTraffic']
  const reported: unknown[] = []
  let before = queued
  for (const slot of path) {
    const event = done(slot, { ...grantedTurn, image: 'berth/shop:dep-1', port: 3000, portSource: 'env' })
    reported.push(transitionOf(before, event).service)
    before = next(before, event)
  }
  const live = { live_deploy_id: 'dep-1', desired_deploy_id: 'dep-1', degraded: false }
  assert.deepEqual(reported, [null, null, null, null, { desired_deploy_id: 'dep-1' }, live])
})

test('the state of a parallel chart has the whole path in each of its regions', () => {
  const regions = {
    limits: { initial: 'kept', states: { kept: {} } },
    life: { initial: 'on', states: { on: { initial: 'idle', states: { idle: {} } } } },
  }
  const wanted = { type: 'parallel', states: regions } as const
  const machine = createMachine({ initial: 'wanted', states: { wanted } })
  const kind: Kind = { machine, version: 1, toRecord: () => ({ id: 'dst-1', status: 'available' }) }
  const next = getInitialSnapshot(machine)
  const event = { type: 'xstate.init' }
  const move = { row, before: null, next, event, eventId: null, at: instant }
  const { entry, row: written } = toTransition(kind, machine, move)
  assert.deepEqual([entry.state, written.service_id], ['wanted.limits.kept wanted.life.on.idle', null])
})

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
    isWatched: () => false,
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
  return { actor, reports, commit: () => acts.shift()!() }
}

test('an actor that is created but not started has no effects', () => {
  const { actor, reports } = openSample()
  assert.deepEqual([actor.getSnapshot().value, reports], ['working', []])
})

test('effects of the left state abort before the commit; those of the new state start after it', () => {
  const { actor, reports, commit } = openSample()
  actor.start()
  actor.send({ type: 'cancel', at })
  const before = [...reports]
  commit()
  assert.deepEqual(before, ['work began', 'work aborted', 'working -> cleaning by cancel'])
  assert.deepEqual(reports.slice(before.length), ['cleanup began'])
})

test('a commit that never completes starts nothing', async () => {
  const { actor, reports } = openSample()
  actor.start()
  actor.send({ type: 'cancel', at })
  await new Promise((resolve) => setImmediate(resolve))
  assert.ok(!reports.includes('cleanup began'))
})

test('the result of an effect is a transition like any other', async () => {
  const { actor, reports } = openSample(async () => ({ at }))
  actor.start()
  await eventually('the end', () => actor.getSnapshot().status === 'done')
  assert.deepEqual(reports, ['work began', 'working -> done by xstate.done.actor.work'])
})

test('an aborted effect cannot reach the next state, before or after the commit', async () => {
  let reject: (error: unknown) => void = () => undefined
  const { actor, reports, commit } = openSample(() => new Promise((_, fail) => (reject = fail)))
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
  const { actor, reports } = openSample()
  actor.start()
  actor.send({ type: 'cancel', at })
  const before = actor.getSnapshot()
  actor.send({ type: 'note', at })
  assert.equal(actor.getSnapshot(), before)
  assert.equal(reports.at(-1), 'ignored note')
})

test('an exception inside the chart rejects the event, and the effects keep running', () => {
  const { actor, reports } = openSample()
  actor.start()
  const before = actor.getSnapshot()
  actor.send({ type: 'explode', at })
  assert.equal(actor.getSnapshot(), before)
  assert.match(reports.at(-1)!, /^rejected explode: .*boom/s)
  assert.ok(!reports.includes('work aborted'))
})

test('a failure that the chart does not handle is reported and is not a transition', async () => {
  const { actor, reports } = openSample(() => Promise.reject({ code: 'bug', message: 'odd', at }))
  actor.start()
  await eventually('the failure', () => actor.getSnapshot().status === 'error')
  assert.deepEqual(reports, ['work began', `failed: {"code":"bug","message":"odd","at":"${at}"}`])
})

test('stopping aborts running effects and is never journaled', () => {
  const { actor, reports } = openSample()
  actor.start()
  actor.stop()
  assert.deepEqual(reports, ['work began', 'work aborted'])
})

test('a commit that completes after the stop starts nothing', () => {
  const { actor, reports, commit } = openSample()
  actor.start()
  actor.send({ type: 'cancel', at })
  actor.stop()
  commit()
  assert.equal(reports.at(-1), 'working -> cleaning by cancel')
})
