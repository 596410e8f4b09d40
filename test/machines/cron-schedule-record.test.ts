// The record and history of a schedule after every possible step, also after a restart.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CronScheduleRecord, machine } from '../../machines/cron-schedule.ts'
import { runMachine, type TestEffect } from '../support/machines/machine-run.ts'
import {
  contextOf,
  due,
  hour,
  inTurn,
  made,
  noticed,
  own,
  plan,
  planned,
  recordOf,
  startSchedule,
  stateOf,
  suspended,
  tick,
  waits,
  working,
} from '../support/machines/schedule-chart.ts'

const asMade: CronScheduleRecord = {
  id: 'sch-1',
  service_id: 'svc-1',
  status: 'waiting',
  phase: null,
  schedule: '0 * * * *',
  timezone: 'UTC',
  since: made,
  last_run: null,
  last_skip: null,
  created_at: made,
}
const ranOnce = {
  ...asMade,
  phase: `began job-1 for ${hour(1)}`,
  since: hour(1),
  last_run: { scheduled_for: hour(1), job_id: 'job-1' },
}
const isBusy = 'job-1 was not over'

interface Telling {
  effects: () => Record<string, TestEffect>
  from?: typeof plan
  state: string
  record: CronScheduleRecord
}

/** The record after these steps. */
const views: Record<string, Telling> = {
  'has seen nothing yet': { effects: () => ({}), state: 'waiting', record: asMade },
  'is made suspended': {
    effects: () => ({}),
    from: suspended,
    state: 'paused',
    record: { ...asMade, status: 'paused' },
  },
  'is about to begin a run': {
    effects: () => ({ awaitInstant: inTurn(due(1)), beginRun: waits }),
    state: 'due',
    record: { ...asMade, status: 'due', since: hour(1) },
  },
  'has started a run': {
    effects: () => ({ awaitInstant: inTurn(due(1)) }),
    state: 'waiting',
    record: ranOnce,
  },
  'has skipped an instant after it': {
    effects: () => ({
      awaitInstant: inTurn(due(1), due(2)),
      beginRun: inTurn({ at: noticed, skipped: null }, { at: noticed, skipped: isBusy }),
    }),
    state: 'waiting',
    record: {
      ...ranOnce,
      phase: `skipped ${hour(2)}: ${isBusy}`,
      since: hour(2),
      last_skip: { scheduled_for: hour(2), at: noticed, reason: isBusy },
    },
  },
  'was away over one instant more': {
    effects: () => ({ awaitInstant: inTurn(due(2, { first: hour(1), last: hour(1) })) }),
    state: 'waiting',
    record: {
      ...asMade,
      phase: `began job-2 for ${hour(2)}`,
      since: hour(2),
      last_run: { scheduled_for: hour(2), job_id: 'job-2' },
      last_skip: {
        scheduled_for: hour(1),
        at: noticed,
        reason:
          'the server did not run, or its clock was set forward: ' +
          `${hour(1)} was missed by a whole period or more`,
      },
    },
  },
  'was away over many, and then skipped': {
    effects: () => ({
      awaitInstant: inTurn(due(9, { first: hour(1), last: hour(8) })),
      beginRun: waits,
    }),
    state: 'due',
    record: {
      ...asMade,
      status: 'due',
      phase:
        `skipped up to ${hour(8)}: the server did not run, or its clock was set forward: ` +
        `every instant from ${hour(1)} to ${hour(8)} was missed by a whole period or more`,
      since: hour(9),
      last_skip: {
        scheduled_for: hour(8),
        at: noticed,
        reason:
          'the server did not run, or its clock was set forward: ' +
          `every instant from ${hour(1)} to ${hour(8)} was missed by a whole period or more`,
      },
    },
  },
  'was suspended and resumed with another plan': {
    effects: () => ({
      awaitResume: inTurn(planned({ ...plan, schedule: '30 2 * * *', timezone: 'Asia/Kolkata' })),
    }),
    from: suspended,
    state: 'waiting',
    record: { ...asMade, schedule: '30 2 * * *', timezone: 'Asia/Kolkata', since: noticed },
  },
  'was suspended while it waited': {
    effects: () => ({ awaitInstant: inTurn(planned(suspended)) }),
    state: 'paused',
    record: { ...asMade, status: 'paused', since: noticed },
  },
  'has lost its service while it waited': {
    effects: () => ({ awaitInstant: inTurn(planned(null)) }),
    state: 'ended',
    record: { ...asMade, status: 'ended' },
  },
  'has lost its service while it was suspended': {
    effects: () => ({ awaitResume: inTurn(planned(null)) }),
    from: suspended,
    state: 'ended',
    record: { ...asMade, status: 'ended' },
  },
}

const started = async ({ effects, from }: Telling) => {
  const run = startSchedule(effects(), from)
  for (let turns = 0; turns < 6; turns++) await tick()
  return run
}

for (const [what, telling] of Object.entries(views)) {
  test(`a schedule that ${what} shows just that`, async () => {
    const run = await started(telling)
    assert.equal(stateOf(run), telling.state)
    assert.deepEqual(recordOf(run), telling.record)
    run.actor.stop()
  })

  test(`a schedule that ${what} continues from its last snapshot`, async () => {
    const whole = await started(telling)
    const snapshot = whole.snapshots.at(-1)!
    whole.actor.stop()
    const requests: unknown[] = []
    const listen = (name: string): TestEffect => {
      return (input, signal) => {
        requests.push([name, input])
        return waits(input, signal)
      }
    }
    const effects = Object.fromEntries(Object.keys(working).map((name) => [name, listen(name)]))
    const run = runMachine(machine, effects, { snapshot })
    await tick()

    assert.deepEqual([stateOf(run), recordOf(run)], [telling.state, telling.record])
    const { since, used, due } = contextOf(run)
    const inputs: Record<string, unknown> = {
      waiting: ['awaitInstant', { ...own, plan: contextOf(run).plan, since, used }],
      paused: ['awaitResume', { ...own, plan: contextOf(run).plan }],
      due: ['beginRun', { ...own, ...due }],
    }
    assert.deepEqual(requests, telling.state === 'ended' ? [] : [inputs[telling.state]])
    run.actor.stop()
  })
}
