// What the type of a service means for what runs of it.

/** Whether it has an address that others ask: workers and cron jobs have none. */
export function listens({ type }: { type: string }): boolean {
  return type !== 'background_worker' && type !== 'cron_job'
}

/** How many instances are to run while it is not suspended: none of what runs by a schedule. */
export function wantedInstances({ type, instances }: { type: string; instances: number }): number {
  return type === 'cron_job' ? 0 : instances
}
