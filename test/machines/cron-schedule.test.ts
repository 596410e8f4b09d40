// The chart of a schedule: due instants, changes of the plan, and failures of each effect.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { machine } from '../../machines/cron-schedule.ts'
import { runMachine, type TestEffect } from '../support/machines/machine-run.ts'
import { toMermaid } from '../support/machines/mermaid.ts'
import {
  contextOf,
  due,
  fails,
  hour,
  inTurn,
  made,
  noticed,
  own,
  plan,
  planned,
  recordOf,
  scheduleInput,
  startSchedule,
  stateOf,
  suspended,
  tick,
  waits,
  working,
} from '../support/machines/schedule-chart.ts'

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

test('after a restart the run of a scheduled time is started again under its stored id', async () => {
  const first = startSchedule({ awaitInstant: inTurn(due(1)), beginRun: waits })
  await first.reached('due')
  first.actor.stop()
  const beginning = recording(working.beginRun!)
  const effects = { ...working, beginRun: beginning.effect }
  const run = runMachine(machine, effects, { snapshot: first.snapshots.at(-1)! })
  await run.reached('waiting')
  assert.deepEqual(beginning.heard, [{ ...own, ...due(1).due }])
  assert.deepEqual(recordOf(run).last_run, { scheduled_for: hour(1), job_id: 'job-1' })
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

for (const [slot, effects, from] of [
  ['awaitInstant', { awaitInstant: fails }, plan],
  ['awaitResume', { awaitResume: fails }, suspended],
  ['beginRun', { awaitInstant: inTurn(due(1)), beginRun: fails }, plan],
] as const) {
  test(`a ${slot} that fails is left to the supervisor`, async () => {
    const run = startSchedule(effects, from)
    for (let turns = 0; turns < 3; turns++) await tick()
    assert.equal(run.actor.getSnapshot().status, 'error')
  })
}

test('an ended schedule requests nothing more', async () => {
  const run = startSchedule({ awaitInstant: inTurn(planned(null)) })
  await run.reached('ended')
  assert.deepEqual([run.actor.getSnapshot().status, run.started], ['done', ['awaitInstant']])
  assert.deepEqual(contextOf(run).plan, scheduleInput.plan)
})

test('the chart matches the fixture', () => {
  assert.equal(toMermaid(machine), readFileSync('test/fixtures/charts/cron-schedule.mmd', 'utf8'))
})
