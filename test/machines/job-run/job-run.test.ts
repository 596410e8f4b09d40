// The chart of a job run: its paths, its failures, a cancel in every state, and a restart at every step.
// Every run ends only after its container is removed and its turn is free.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { AnyStateNode } from 'xstate'
import { cleanups, type JobRunRecord, machine } from '../../../machines/job-run.ts'
import {
  asAsked,
  cancel,
  canceled,
  ended,
  failed,
  fails,
  following,
  jobInput,
  later,
  listening,
  recordOf,
  standIn,
  standing,
  started,
  starting,
  startJob,
  stateOf,
  turn,
  waits,
  working,
} from '../../support/machines/job-chart.ts'
import { runMachine, type TestEffect } from '../../support/machines/machine-run.ts'
import { toMermaid } from '../../support/machines/mermaid.ts'

const tick = () => new Promise((resolve) => setImmediate(resolve))
const final = ['succeeded', 'failed', 'canceled']

test('a run gets its turn, starts, is followed to its end, and succeeds on the live version', async () => {
  const { heard, effects } = listening({})
  const run = startJob(effects)
  await run.reached('succeeded')
  assert.deepEqual(run.states, [
    'pending',
    'running.starting',
    'running.following',
    'succeeding',
    'succeeded',
  ])
  const runInput = { id: 'job-1', serviceId: 'svc-1', isOwn: true }
  const live = { deployId: 'dep-2', image: 'berth/shop:dep-2', command: 'npm run report' }
  const limit = { timeoutSeconds: 60, endsAt: Date.parse(started) + 60_000 }
  assert.deepEqual(heard, [
    ['awaitTurn', { ...runInput, command: null, overlap: 'skip' }],
    ['startRun', { ...runInput, ...live }],
    ['followRun', { ...runInput, command: 'npm run report', ...limit }],
    ['clearRun', { ...runInput, outcome: 'succeeded' }],
  ])
})

/** The record of a run in that state. */
const view: Record<string, JobRunRecord> = {
  pending: asAsked,
  'running.starting': starting,
  'running.following': following,
  // The run has failed, but it is not over.
  'running.stopping': following,
  'canceling.stopping': canceled,
  'canceling.clearing': { ...canceled, exit_code: 143 },
  succeeding: { ...following, status: 'succeeded', exit_code: 0, finished_at: ended },
  failing: failed,
}

for (const [state, record] of Object.entries(view)) {
  test(`a run that is ${state} shows just that`, async () => {
    const run = await standIn(state)
    assert.deepEqual(recordOf(run), record)
    run.actor.stop()
  })
}

/** The paths of all leaf states. */
function leafStatesOf(node: AnyStateNode): string[] {
  const inner = Object.values(node.states)
  return inner.length === 0 ? [node.path.join('.')] : inner.flatMap(leafStatesOf)
}

test('every state of a run is covered once', () => {
  assert.deepEqual([...Object.keys(standing), ...final].sort(), leafStatesOf(machine.root).sort())
  assert.deepEqual(Object.keys(view), Object.keys(standing))
})

for (const state of Object.keys(standing)) {
  const takes = state === 'pending' || state.startsWith('running')
  test(`a cancel of a run that is ${state} ${takes ? 'stops it first' : 'changes nothing'}`, async () => {
    const run = await standIn(state, takes ? { stopRun: waits } : {})
    const before = run.actor.getSnapshot()
    run.actor.send({ type: 'cancel', at: later, by: 'Grace' })
    if (takes) {
      assert.deepEqual([stateOf(run), run.started.at(-1)], ['canceling.stopping', 'stopRun'])
      const { status, error, finished_at } = recordOf(run)
      assert.deepEqual([status, error, finished_at], ['canceled', 'canceled by Grace', later])
    } else {
      assert.equal(run.actor.getSnapshot(), before)
    }
    run.actor.stop()
  })
}

for (const [state, slot] of [
  ['running.stopping', 'stopRun'],
  ['canceling.stopping', 'stopRun'],
  ['canceling.clearing', 'clearRun'],
  ['succeeding', 'clearRun'],
  ['failing', 'clearRun'],
] as const) {
  test(`a ${slot} that fails while ${state} is left to the supervisor`, async () => {
    const heldRun = await standIn(state)
    heldRun.actor.stop()
    const run = runMachine(machine, { ...working, [slot]: fails }, { snapshot: heldRun.snapshots.at(-1)! })
    await tick()
    assert.equal(run.actor.getSnapshot().status, 'error')
  })
}

test('a cancel aborts the current effect of the run in the same tick', async () => {
  let isAborted = false
  const followRun: TestEffect = (input, signal) => {
    signal.addEventListener('abort', () => {
      isAborted = true
    })
    return waits(input, signal)
  }
  const run = startJob({ followRun, stopRun: waits })
  await run.reached('running.following')
  run.actor.send(cancel)
  assert.equal(isAborted, true)
  run.actor.stop()
})

test('the time limit counts from the start that Docker reports, also after a restart', async () => {
  const run = await standIn('running.following')
  run.actor.stop()
  const { heard, effects } = listening({ followRun: waits })
  const again = runMachine(machine, effects, { snapshot: run.snapshots.at(-1)! })
  await tick()
  const limits = heard.map(([name, input]) => [name, (input as { endsAt: number }).endsAt])
  assert.deepEqual(limits, [['followRun', Date.parse(started) + 60_000]])
  again.actor.stop()
})

test('a run whose end Docker does not report ended when that was observed', async () => {
  const followRun: TestEffect = async () => ({
    at: later,
    exitCode: 1,
    finishedAt: null,
    trouble: 'gone',
    code: 'job_failed',
  })
  const run = startJob({ followRun })
  await run.reached('failed')
  assert.deepEqual([recordOf(run).exit_code, recordOf(run).finished_at], [1, later])
})

test('its own command stays, whatever the turn returns', async () => {
  const input = { ...jobInput, command: 'ls', overlap: null, trigger: 'manual' as const, scheduledFor: null }
  const awaitTurn: TestEffect = async ({ command }, signal) => ({
    ...((await turn({}, signal)) as object),
    command,
  })
  const run = runMachine(machine, { ...working, awaitTurn }, { input })
  await run.reached('succeeded')
  const { command, overlap, trigger, scheduled_for } = recordOf(run)
  assert.deepEqual([command, overlap, trigger, scheduled_for], ['ls', null, 'manual', null])
})

test('stopping and clearing a run is repeated after an effect that ended late', () => {
  assert.deepEqual(cleanups, ['stopRun', 'clearRun'])
})

test('the chart matches the fixture', () => {
  assert.equal(toMermaid(machine), readFileSync('test/fixtures/charts/job-run.mmd', 'utf8'))
})
