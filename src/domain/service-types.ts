// Properties that derive from the row of a service.

/** Whether the service listens on a port: workers and cron jobs do not. */
export function listens({ type }: { type: string }): boolean {
  return type !== 'background_worker' && type !== 'cron_job'
}

/** The number of instances while the service is not suspended. Cron jobs have none. */
export function wantedInstances({ type, instances }: { type: string; instances: number }): number {
  return type === 'cron_job' ? 0 : instances
}

/** Where the server of a static site listens unless PORT is set. */
export const sitePort = 8080

const defaultTimeoutSeconds = 24 * 60 * 60

/** The time limit of a run, in seconds. */
export function timeoutOf({ timeout_seconds }: { timeout_seconds: number | null }): number {
  return timeout_seconds ?? defaultTimeoutSeconds
}

/** The id of a cron service's schedule. Each service has one, so the id derives from the service's. */
export function scheduleIdOf(serviceId: string): string {
  return `sch-${serviceId.slice(serviceId.indexOf('-') + 1)}`
}
