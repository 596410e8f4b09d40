// The plan of a schedule, read from the service's row each time.
import type { SchedulePlan } from '../../../machines/cron-schedule.ts'
import type { ServiceRow } from '../../../storage/services.ts'

/** null if the service is deleted or being deleted, or has no schedule. */
export function planOf(service: ServiceRow | null): SchedulePlan | null {
  if (!service || service.deleting || service.schedule === null) return null
  const { schedule, timezone, suspended } = service
  return { schedule, timezone: timezone ?? 'UTC', isSuspended: suspended }
}

export function isSamePlan(a: SchedulePlan, b: SchedulePlan): boolean {
  return a.schedule === b.schedule && a.timezone === b.timezone && a.isSuspended === b.isSuspended
}
