// The ends of a job run: each path to them, the record and the log, and a restart at every step.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type JobRunRecord, machine } from '../../../machines/job-run.ts'
import {
  asAsked,
  cancel,
  canceled,
  ended,
  exits,
  failed,
  fails,
  findsNothing,
  later,
  listening,
  recordOf,
  starting,
  startJob,
  stateOf,
  timesOut,
  waits,
  withdrawn,
  working,
} from '../../support/machines/job-chart.ts'
import { type Run, runMachine, type TestEffect } from '../../support/machines/machine-run.ts'

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
    const last = ['clearRun', { id: 'job-1', serviceId: 'svc-1', isOwn: true, outcome: end.outcome }]
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
