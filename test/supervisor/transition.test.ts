// What the transitions of real charts write: plain JSON with the field names of the API.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type AnyMachineSnapshot,
  createMachine,
  type EventObject,
  getInitialSnapshot,
  getNextSnapshot,
} from 'xstate'
import { catalogue, type Kind } from '../../machines/index.ts'
import { toTransition } from '../../src/supervisor/transition.ts'
import { deployInput, failure, grantedTurn } from '../support/machines/deploy-chart.ts'

const instant = '2026-01-01T00:00:00.000Z'
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

test('the state of a parallel chart names all of its regions', () => {
  const regions = {
    limits: { initial: 'kept', states: { kept: {} } },
    life: { initial: 'on', states: { on: {} } },
  }
  const machine = createMachine({ type: 'parallel', states: regions })
  const kind: Kind = { machine, version: 1, toRecord: () => ({ id: 'dst-1', status: 'available' }) }
  const next = getInitialSnapshot(machine)
  const event = { type: 'xstate.init' }
  const move = { row, before: null, next, event, eventId: null, at: instant }
  const { entry, row: written } = toTransition(kind, machine, move)
  assert.deepEqual([entry.state, written.service_id], ['limits.kept life.on', null])
})
