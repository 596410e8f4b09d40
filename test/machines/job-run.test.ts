// The chart of a job run: its paths, its failures, and a restart at every step.
// Every run ends only after its container is removed and its turn is free.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type JobRunRecord, machine, migrate } from '../../machines/job-run.ts'
import {
  asAsked,
  cancel,
  canceled,
  ended,
  exits,
  failed,
  fails,
  findsNothing,
  following,
  jobInput,
  later,
  listening,
  recordOf,
  standIn,
  started,
  starting,
  startJob,
  stateOf,
  stopping,
  timesOut,
  turn,
  withdrawn,
  working,
} from '../support/machines/job-chart.ts'
import { type Run, runMachine, type TestEffect, waits } from '../support/machines/machine-run.ts'

const tick = () => new Promise((resolve) => setImmediate(resolve))

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
  const runInput = { id: 'job-1', serviceId: 'svc-1' }
  const live = { deployId: 'dep-2', image: 'berth/shop:dep-2', command: 'npm run report' }
  const limit = { timeoutSeconds: 60, endsAt: Date.parse(started) + 60_000 }
  assert.deepEqual(heard, [
    ['awaitTurn', { ...runInput, command: null, overlap: 'skip' }],
    ['startRun', { ...runInput, ...live, stdin: false }],
    ['followRun', { ...runInput, command: 'npm run report', stdin: false, ...limit }],
    ['clearRun', { ...runInput, outcome: 'succeeded' }],
  ])
})

/** The record of a run in that state. */
const view: Record<string, JobRunRecord> = {
  pending: asAsked,
  'running.starting': starting,
  'running.following': following,
  // The run has failed, but it is not over.
  'running.stopping': stopping,
  'canceling.stopping': canceled,
  'canceling.clearing': { ...canceled, exit_code: 143 },
  succeeding: { ...stopping, status: 'succeeded', exit_code: 0, finished_at: ended },
  failing: failed,
}

for (const [state, record] of Object.entries(view)) {
  test(`a run that is ${state} shows just that`, async () => {
    const run = await standIn(state)
    assert.deepEqual(recordOf(run), record)
    run.actor.stop()
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

test('a run with input waits half a minute for its client, and notes the end of its input', async () => {
  const { heard, effects } = listening({ followRun: waits })
  const run = runMachine(machine, effects, { input: { ...jobInput, stdin: true } })
  await run.reached('running.following')
  assert.deepEqual(run.states, ['pending', 'connecting', 'running.starting', 'running.following'])
  assert.deepEqual(heard[1], [
    'awaitInput',
    { id: 'job-1', serviceId: 'svc-1', until: Date.parse(started) + 30_000 },
  ])
  run.actor.send({ type: 'input.ended', at: later })
  assert.deepEqual([stateOf(run), recordOf(run).input_ended_at], ['running.following', later])
  run.actor.stop()
})

for (const state of ['pending', 'running.following']) {
  test(`a run of version 1 that is ${state} goes on without input`, async () => {
    const run = await standIn(state)
    run.actor.stop()
    const { context, ...rest } = run.snapshots.at(-1) as unknown as { context: Record<string, unknown> }
    const { stdin: _, inputUntil: __, inputEndedAt: ___, ...former } = context
    const snapshot = migrate({ ...rest, context: former }, 1) as never
    const again = runMachine(machine, working, { snapshot })
    await again.reached('succeeded')
    assert.deepEqual([recordOf(again).stdin, recordOf(again).input_ended_at], [false, null])
  })
}

test('a run whose client does not come fails without a container', async () => {
  const awaitInput: TestEffect = () =>
    Promise.reject({ code: 'input_missing', message: 'no client sent its input', at: later })
  const run = runMachine(machine, { ...working, awaitInput }, { input: { ...jobInput, stdin: true } })
  await run.reached('failed')
  assert.deepEqual(run.states, ['pending', 'connecting', 'failing', 'failed'])
  assert.deepEqual([recordOf(run).status, recordOf(run).error_code], ['failed', 'input_missing'])
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

// The ends of a job run: each path to them, the record and the log, and a restart at every step.

interface End {
  effects: Record<string, TestEffect>
  path: string[]
  record: JobRunRecord
  outcome: string
  /** Canceled in that state. */
  cancelIn?: string
}

const outOfTime = 'took longer than its limit of 60 s (--timeout, --job-timeout)'
const suspension = 'canceled by the suspension of its service'
const late = { error: outOfTime, error_code: 'timeout' } as const
const suspended = { error: suspension, error_code: 'withdrawn' } as const
const noSpace = { error: 'no space left', error_code: 'docker_error' } as const
const ends: Record<string, End> = {
  'whose command fails': {
    effects: { followRun: exits(3, 'exited with code 3') },
    path: ['pending', 'running.starting', 'running.following', 'failing', 'failed'],
    record: failed,
    outcome: 'failed: exited with code 3',
  },
  'that never gets its turn': {
    effects: { awaitTurn: fails },
    path: ['pending', 'failing', 'failed'],
    record: { ...asAsked, status: 'failed', ...noSpace, finished_at: later },
    outcome: 'failed: no space left',
  },
  'that cannot be started': {
    effects: { startRun: fails, stopRun: findsNothing },
    path: ['pending', 'running.starting', 'running.stopping', 'failing', 'failed'],
    record: { ...starting, status: 'failed', ...noSpace, finished_at: later },
    outcome: 'failed: no space left',
  },
  'that cannot be followed': {
    effects: { followRun: fails },
    path: ['pending', 'running.starting', 'running.following', 'running.stopping', 'failing', 'failed'],
    record: { ...failed, exit_code: 143, ...noSpace },
    outcome: 'failed: no space left',
  },
  'that takes too long': {
    effects: { followRun: timesOut },
    path: ['pending', 'running.starting', 'running.following', 'running.stopping', 'failing', 'failed'],
    record: { ...failed, exit_code: 143, ...late },
    outcome: `failed: ${outOfTime}`,
  },
  'whose service is suspended while it waits': {
    effects: { awaitTurn: withdrawn, stopRun: findsNothing },
    path: ['pending', 'canceling.stopping', 'canceling.clearing', 'canceled'],
    record: { ...asAsked, status: 'canceled', ...suspended, finished_at: later },
    outcome: suspension,
  },
  'whose service is suspended while it starts': {
    effects: { startRun: withdrawn, stopRun: findsNothing },
    path: ['pending', 'running.starting', 'canceling.stopping', 'canceling.clearing', 'canceled'],
    record: { ...starting, status: 'canceled', ...suspended, finished_at: later },
    outcome: suspension,
  },
  'whose service is suspended while it runs': {
    effects: { followRun: withdrawn },
    path: [
      'pending',
      'running.starting',
      'running.following',
      'canceling.stopping',
      'canceling.clearing',
      'canceled',
    ],
    record: { ...canceled, exit_code: 143, ...suspended, finished_at: later },
    outcome: suspension,
  },
  'that is canceled while it waits': {
    effects: { awaitTurn: waits, stopRun: findsNothing },
    cancelIn: 'pending',
    path: ['pending', 'canceling.stopping', 'canceling.clearing', 'canceled'],
    record: {
      ...asAsked,
      status: 'canceled',
      error: 'canceled by Ada',
      error_code: 'canceled',
      finished_at: ended,
    },
    outcome: 'canceled by Ada',
  },
  // Docker started the container anyway, shortly after the cancel.
  'that is canceled while it starts': {
    effects: {
      startRun: waits,
      stopRun: async () => ({ at: later, exitCode: 137, startedAt: later, finishedAt: later }),
    },
    cancelIn: 'running.starting',
    path: ['pending', 'running.starting', 'canceling.stopping', 'canceling.clearing', 'canceled'],
    record: { ...canceled, started_at: ended, exit_code: 137 },
    outcome: 'canceled by Ada',
  },
  'that is canceled while it runs': {
    effects: { followRun: waits },
    cancelIn: 'running.following',
    path: [
      'pending',
      'running.starting',
      'running.following',
      'canceling.stopping',
      'canceling.clearing',
      'canceled',
    ],
    record: { ...canceled, exit_code: 143 },
    outcome: 'canceled by Ada',
  },
}

async function runTo(end: End): Promise<Run> {
  const run = startJob(end.effects)
  await cancelInTime(run, end)
  await run.reached(end.path.at(-1)!)
  return run
}

/** Also for a restored run; not for one that was already canceled. */
async function cancelInTime(run: Run, { cancelIn, path }: End): Promise<void> {
  if (!cancelIn || path.indexOf(stateOf(run)) > path.indexOf(cancelIn)) return
  await run.reached(cancelIn)
  run.actor.send(cancel)
}

for (const [what, end] of Object.entries(ends)) {
  test(`a run ${what} ends as ${end.path.at(-1)}, and its log has the reason`, async () => {
    const { heard, effects } = listening(end.effects)
    const run = await runTo({ ...end, effects })
    assert.deepEqual(run.states, end.path)
    assert.deepEqual(recordOf(run), end.record)
    const last = ['clearRun', { id: 'job-1', serviceId: 'svc-1', outcome: end.outcome }]
    assert.deepEqual(heard.at(-1), last)
  })
}

for (const [what, end] of Object.entries({
  'that succeeds': { effects: {}, path: ['succeeded'], record: asAsked, outcome: '' },
  ...ends,
})) {
  test(`a run ${what} continues from each of its snapshots, and starts nothing twice`, async () => {
    const whole = await runTo(end)
    const alive = whole.snapshots.filter(({ status }) => status === 'active')
    assert.equal(alive.length, whole.started.length)
    for (const [index, snapshot] of alive.entries()) {
      const run = runMachine(machine, { ...working, ...end.effects }, { snapshot })
      await cancelInTime(run, end)
      await run.reached(end.path.at(-1)!)
      assert.deepEqual(recordOf(run), recordOf(whole))
      assert.deepEqual(run.started, whole.started.slice(index))
    }
  })
}
