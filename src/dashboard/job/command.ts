// What a job run runs and why, in words.
import type { JobRun } from '../../api/job.ts'

type Command = Pick<JobRun, 'command'>

export function whatOf({ command }: Command): string {
  return command ?? 'The command of the cron job'
}

export function triggerOf({ trigger }: Pick<JobRun, 'trigger'>): string {
  return trigger === 'schedule' ? 'scheduled' : 'requested'
}
