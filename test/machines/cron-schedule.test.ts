// The chart of a schedule: due instants, changes of the plan, and failures of each effect.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type CronScheduleInput,
  type CronScheduleRecord,
  type CronScheduleSnapshot,
  type DueRun,
  machine,
  type SchedulePlan,
  toRecord,
} from '../../machines/cron-schedule.ts'
import {
  continueFrom,
  forever,
  pathOf,
  type Run,
  runMachine,
  type TestEffect,
  waits,
} from '../support/machines/machine-run.ts'

const made = '2026-01-01T00:00:00.000Z'
const noticed = '2026-01-01T01:00:01.000Z'
const plan: SchedulePlan = { schedule: '0 * * * *', timezone: 'UTC', isSuspended: false }
const suspended: SchedulePlan = { ...plan, isSuspended: true }
const own = { id: 'sch-1', serviceId: 'svc-1' }
const scheduleInput: CronScheduleInput = { ...own, plan, at: made }

const begins: TestEffect = async () => ({ at: noticed, skipped: null })

/** A full hour of the test's day. */
const hour = (count: number) => `2026-01-01T${String(count).padStart(2, '0')}:00:00.000Z`
const due = (count: number, missed: DueRun['missed'] = null) => ({
  at: noticed,
  due: { instant: hour(count), runId: `job-${count}`, missed },
})
const planned = (next: SchedulePlan | null) => ({ at: noticed, plan: next })

/** Returns these results in order, then waits. */
function inTurn(...responses: unknown[]): TestEffect {
  let count = 0
  return (_, signal) => (count < responses.length ? Promise.resolve(responses[count++]) : forever(signal))
}

const working: Record<string, TestEffect> = {
  awaitInstant: waits,
  awaitResume: waits,
  beginRun: begins,
}

const startSchedule = (effects: Record<string, TestEffect> = {}, from = plan) =>
  runMachine(machine, { ...working, ...effects }, { input: { ...scheduleInput, plan: from } })
const contextOf = ({ actor }: Run) => (actor.getSnapshot() as CronScheduleSnapshot).context
const recordOf = ({ actor }: Run) => toRecord(actor.getSnapshot() as CronScheduleSnapshot)
const stateOf = ({ actor }: Run) => pathOf(actor.getSnapshot().value)
const tick = () => new Promise((resolve) => setImmediate(resolve))

/** The same effect, and the inputs that it got. */
function recording(effect: TestEffect) {
  const heard: unknown[] = []
  const listen: TestEffect = (input, signal) => {
    heard.push(input)
    return effect(input, signal)
  }
  return { heard, effect: listen }
}

test('a scheduled time starts its run, and the next one is counted from it', async () => {
  const waiting = recording(inTurn(due(1)))
  const beginning = recording(working.beginRun!)
  const run = startSchedule({ awaitInstant: waiting.effect, beginRun: beginning.effect })
  while (waiting.heard.length < 2) await tick()
  assert.deepEqual(run.states, ['waiting', 'due', 'waiting'])
  assert.deepEqual(waiting.heard, [
    { ...own, plan, since: made, used: [] },
    { ...own, plan, since: hour(1), used: [hour(1)] },
  ])
  assert.deepEqual(beginning.heard, [{ ...own, ...due(1).due }])
  run.actor.stop()
})

test('a changed plan takes effect immediately, and earlier times are dropped', async () => {
  const next = { ...plan, schedule: '*/5 * * * *' }
  const waiting = recording(inTurn(due(1), planned(next)))
  const run = startSchedule({ awaitInstant: waiting.effect })
  while (waiting.heard.length < 3) await tick()
  assert.deepEqual(waiting.heard.at(-1), { ...own, plan: next, since: noticed, used: [hour(1)] })
  assert.deepEqual(recordOf(run).last_run, { scheduled_for: hour(1), job_id: 'job-1' })
  run.actor.stop()
})

test('only the last hundred times are stored', async () => {
  const instants = Array.from({ length: 130 }, (_, index) =>
    new Date(Date.parse(made) + index * 60_000).toISOString(),
  )
  const dues = instants.map((instant) => ({ at: instant, due: { instant, runId: 'job-1', missed: null } }))
  const run = startSchedule({ awaitInstant: inTurn(...dues) })
  while (recordOf(run).since !== instants.at(-1) || stateOf(run) !== 'waiting') await tick()
  assert.deepEqual(contextOf(run).used, instants.slice(-100))
  run.actor.stop()
})

// The record and history of a schedule after every possible step, also after a restart.

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
  test(`a schedule that ${what} shows just that, and continues from its last snapshot`, async () => {
    const whole = await started(telling)
    assert.deepEqual([stateOf(whole), recordOf(whole)], [telling.state, telling.record])
    const snapshot = whole.snapshots.at(-1)!
    whole.actor.stop()
    const { run, requests } = await continueFrom(machine, snapshot)

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
