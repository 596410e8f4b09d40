// What a job run runs and why, in words.
import type { JobRun } from '../../api/job.ts'

type Command = Pick<JobRun, 'command'>

export function whatOf({ command }: Command): string {
  return command ?? "The cron job's command"
}

export function triggerOf({ trigger }: Pick<JobRun, 'trigger'>): string {
  return trigger === 'schedule' ? 'scheduled' : 'requested'
}
