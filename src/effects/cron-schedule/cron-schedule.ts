// The effects of a schedule: waiting for its next instant, and beginning the run of it.
import type { machine } from '../../../machines/cron-schedule.ts'
import type { Effects } from '../../../machines/slot.ts'
import type { Host } from '../host.ts'
import { beginRun } from './begin.ts'
import { type Clock, systemClock } from './clock.ts'
import { awaitInstant, awaitResume } from './instant.ts'

export function cronScheduleEffects(host: Host, clock: Clock = systemClock): Effects<typeof machine> {
  return {
    awaitInstant: awaitInstant(host, clock),
    awaitResume: awaitResume(host, clock),
    beginRun: beginRun(host, clock),
  }
}
