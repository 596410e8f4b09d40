// Inputs, effects and a runner for tests of the schedule chart.
import {
  type CronScheduleInput,
  type CronScheduleSnapshot,
  type DueRun,
  machine,
  type SchedulePlan,
  toRecord,
} from '../../../machines/cron-schedule.ts'
import { forever, pathOf, type Run, runMachine, type TestEffect } from './machine-run.ts'

export const made = '2026-01-01T00:00:00.000Z'
export const noticed = '2026-01-01T01:00:01.000Z'
export const plan: SchedulePlan = { schedule: '0 * * * *', timezone: 'UTC', isSuspended: false }
export const suspended: SchedulePlan = { ...plan, isSuspended: true }
export const own = { id: 'sch-1', serviceId: 'svc-1' }
export const scheduleInput: CronScheduleInput = { ...own, plan, at: made }

export const waits: TestEffect = (_, signal) => forever(signal)
export const begins: TestEffect = async () => ({ at: noticed, skipped: null })
export const fails: TestEffect = () => Promise.reject({ code: 'internal_error', message: 'a bug', at: made })

/** A full hour of the test's day. */
export const hour = (count: number) => `2026-01-01T${String(count).padStart(2, '0')}:00:00.000Z`
export const due = (count: number, missed: DueRun['missed'] = null) => ({
  at: noticed,
  due: { instant: hour(count), runId: `job-${count}`, missed },
})
export const planned = (next: SchedulePlan | null) => ({ at: noticed, plan: next })

/** Returns these results in order, then waits. */
export function inTurn(...responses: unknown[]): TestEffect {
  let count = 0
  return (_, signal) => (count < responses.length ? Promise.resolve(responses[count++]) : forever(signal))
}

export const working: Record<string, TestEffect> = {
  awaitInstant: waits,
  awaitResume: waits,
  beginRun: begins,
}

export const startSchedule = (effects: Record<string, TestEffect> = {}, from = plan) =>
  runMachine(machine, { ...working, ...effects }, { input: { ...scheduleInput, plan: from } })
export const contextOf = ({ actor }: Run) => (actor.getSnapshot() as CronScheduleSnapshot).context
export const recordOf = ({ actor }: Run) => toRecord(actor.getSnapshot() as CronScheduleSnapshot)
export const stateOf = ({ actor }: Run) => pathOf(actor.getSnapshot().value)
export const tick = () => new Promise((resolve) => setImmediate(resolve))
