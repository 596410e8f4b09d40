// Defaults of the job runs of a service.

const defaultTimeoutSeconds = 24 * 60 * 60

/** The time limit of a run, in seconds. */
export function timeoutOf({ timeout_seconds }: { timeout_seconds: number | null }): number {
  return timeout_seconds ?? defaultTimeoutSeconds
}

/** The id of a cron service's schedule. Each service has one, so the id derives from the service's. */
export function scheduleIdOf(serviceId: string): string {
  return `sch-${serviceId.slice(serviceId.indexOf('-') + 1)}`
}
