// Inputs, effects and a runner for tests of the job-run chart. All effects succeed by default.

import {
  type JobRunInput,
  type JobRunRecord,
  type JobRunSnapshot,
  machine,
  toRecord,
} from '../../../machines/job-run.ts'
import { pathOf, type Run, runMachine, type TestEffect, waits } from './machine-run.ts'

export const requested = '2026-01-01T00:00:00.000Z'
export const started = '2026-01-01T00:00:02.000Z'
export const ended = '2026-01-01T00:00:09.000Z'
export const later = '2026-01-01T00:00:10.000Z'

export const jobInput: JobRunInput = {
  id: 'job-1',
  serviceId: 'svc-1',
  command: null,
  image: 'berth/shop:dep-1',
  trigger: 'schedule',
  scheduledFor: requested,
  overlap: 'skip',
  timeoutSeconds: 60,
  stdin: false,
  at: requested,
}

export const turn: TestEffect = async () => ({
  at: started,
  deployId: 'dep-2',
  image: 'berth/shop:dep-2',
  command: 'npm run report',
})
export const exits =
  (exitCode: number, trouble: string | null): TestEffect =>
  async () => ({ at: later, exitCode, startedAt: null, finishedAt: ended, trouble, code: 'job_failed' })
export const rejects =
  (code: string, message: string): TestEffect =>
  () =>
    Promise.reject({ code, message, at: later })

export const fails = rejects('docker_error', 'no space left')
export const withdrawn = rejects('withdrawn', 'canceled by the suspension of its service')
export const timesOut = rejects('timeout', 'took longer than its limit of 60 s (--timeout, --job-timeout)')
/** The cleanup found a container and ended it. */
export const stops: TestEffect = async () => ({
  at: later,
  exitCode: 143,
  startedAt: null,
  finishedAt: ended,
})
/** The cleanup found no container. */
export const findsNothing: TestEffect = async () => ({
  at: later,
  exitCode: null,
  startedAt: null,
  finishedAt: null,
})

export const working: Record<string, TestEffect> = {
  awaitTurn: turn,
  awaitInput: async () => ({ at: started }),
  startRun: async () => ({ at: later, startedAt: started }),
  followRun: exits(0, null),
  stopRun: stops,
  clearRun: async () => ({ at: later }),
}

export const cancel = { type: 'cancel', at: ended, by: 'Ada' } as const

export const startJob = (effects: Record<string, TestEffect> = {}) =>
  runMachine(machine, { ...working, ...effects }, { input: jobInput })
export const recordOf = ({ actor }: Run) => toRecord(actor.getSnapshot() as JobRunSnapshot)
export const stateOf = ({ actor }: Run) => pathOf(actor.getSnapshot().value)

/** The effect that blocks in each state; for canceling states, after a cancel. */
export const standing: Record<string, Record<string, TestEffect>> = {
  pending: { awaitTurn: waits },
  'running.starting': { startRun: waits },
  'running.following': { followRun: waits },
  'running.stopping': { followRun: timesOut, stopRun: waits },
  'canceling.stopping': { followRun: waits, stopRun: waits },
  'canceling.clearing': { followRun: waits, clearRun: waits },
  succeeding: { clearRun: waits },
  failing: { followRun: exits(3, 'exited with code 3'), clearRun: waits },
}

/** Starts a run that stays in that state. */
export async function standIn(state: string, effects: Record<string, TestEffect> = {}): Promise<Run> {
  const run = startJob({ ...standing[state], ...effects })
  if (state.startsWith('canceling')) {
    await run.reached('running.following')
    run.actor.send(cancel)
  }
  await run.reached(state)
  return run
}

/** The effects, and a record of their inputs. */
export function listening(effects: Record<string, TestEffect>) {
  const heard: [name: string, input: unknown][] = []
  const listened = Object.entries({ ...working, ...effects }).map(([name, effect]) => {
    const listen: TestEffect = (input, signal) => {
      heard.push([name, input])
      return effect(input, signal)
    }
    return [name, listen] as const
  })
  return { heard, effects: Object.fromEntries(listened) }
}

/** The record in the API after each transition. */
export const asAsked: JobRunRecord = {
  id: 'job-1',
  service_id: 'svc-1',
  deploy_id: null,
  command: null,
  image: 'berth/shop:dep-1',
  status: 'pending',
  trigger: 'schedule',
  scheduled_for: requested,
  overlap: 'skip',
  timeout_seconds: 60,
  stdin: false,
  input_ended_at: null,
  exit_code: null,
  error: null,
  error_code: null,
  error_details: null,
  created_at: requested,
  started_at: null,
  finished_at: null,
  deadline_at: null,
}
export const starting: JobRunRecord = {
  ...asAsked,
  status: 'running',
  deploy_id: 'dep-2',
  command: 'npm run report',
  image: 'berth/shop:dep-2',
}
const begun: JobRunRecord = { ...starting, started_at: started }
const deadline = new Date(Date.parse(started) + asAsked.timeout_seconds * 1000).toISOString()
export const following: JobRunRecord = { ...begun, deadline_at: deadline }
export const stopping: JobRunRecord = begun
export const failed: JobRunRecord = {
  ...begun,
  status: 'failed',
  exit_code: 3,
  error: 'exited with code 3',
  error_code: 'job_failed',
  finished_at: ended,
}
export const canceled: JobRunRecord = {
  ...begun,
  status: 'canceled',
  error: 'canceled by Ada',
  error_code: 'canceled',
  finished_at: ended,
}
