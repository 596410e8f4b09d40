// What a job run runs and why, in words.
import type { JobRun } from '../../api/job.ts'

export function RunCommand({ command }: Pick<JobRun, 'command'>) {
  return command === null ? "The cron job's command" : <code>{command}</code>
}

export function triggerOf({ trigger }: Pick<JobRun, 'trigger'>): string {
  return trigger === 'schedule' ? 'scheduled' : 'requested'
}
