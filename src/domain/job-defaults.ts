// What holds for the runs of every service.

const defaultTimeoutSeconds = 24 * 60 * 60

/** How long a run may take. */
export function timeoutOf({ timeout_seconds }: { timeout_seconds: number | null }): number {
  return timeout_seconds ?? defaultTimeoutSeconds
}

/** The schedule of a cron service: one for each, so its id follows from the service's. */
export function scheduleIdOf(serviceId: string): string {
  return `sch-${serviceId.slice(serviceId.indexOf('-') + 1)}`
}
