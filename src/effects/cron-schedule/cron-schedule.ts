// The effects of a schedule: waiting for its next instant, and starting the run.
import type { machine } from '../../../machines/cron-schedule.ts'
import type { Effects } from '../../../machines/slot.ts'
import { startRun } from './begin.ts'
import { type Clock, systemClock } from './clock.ts'
import { awaitInstant, awaitResume } from './instant.ts'
import type { CronSchedulePorts } from './ports.ts'

export function cronScheduleEffects(
  ports: CronSchedulePorts,
  clock: Clock = systemClock,
): Effects<typeof machine> {
  return {
    awaitInstant: awaitInstant(ports, clock),
    awaitResume: awaitResume(ports, clock),
    beginRun: startRun(ports, clock),
  }
}
