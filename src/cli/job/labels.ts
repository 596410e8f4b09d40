// Formats job runs: the colour of a status, the trigger, the duration, the command.
import type { JobRun } from '../../api/job.ts'
import type { Service } from '../../api/service.ts'
import { duration } from '../../quantities.ts'
import { requesterName } from '../deploy/labels.ts'
import { age, span } from '../terminal/ages.ts'
import { plain, type Style } from '../terminal/output.ts'
import { clip } from '../terminal/phase-line.ts'
import { clockTime } from './instants.ts'

const statusStyles: Record<string, Style> = {
  pending: 'cyan',
  running: 'cyan',
  succeeded: 'green',
  failed: 'red',
  canceled: 'yellow',
}

/** The limit in a list: a command may be a script of a hundred lines. */
const maxCommandChars = 120
/** Short form for a list, where the id of a run leaves little room. */
const maxRequesterChars = 13

export function runStyle({ status }: { status: string }): Style {
  return statusStyles[status] ?? 'dim'
}

/** `failed (3)`, `running` */
export function outcomeOf({ status, exit_code }: JobRun): string {
  return status === 'failed' && exit_code !== null ? `${status} (${exit_code})` : status
}

/** `manual`, or `for 03:00`: the scheduled time in the zone of the schedule. */
export function originOf({ trigger, scheduled_for }: JobRun, timeZone: string): string {
  return scheduled_for === null ? trigger : `for ${clockTime(scheduled_for, timeZone)}`
}

export function startedBy(run: JobRun, timeZone: string): string {
  const asker = run.scheduled_for === null ? clip(plain(requesterName(run.by)), maxRequesterChars) : ''
  return asker || originOf(run, timeZone)
}

export function runDuration({ started_at, finished_at }: JobRun): string {
  if (started_at === null) return ''
  if (finished_at !== null) return duration(Date.parse(finished_at) - Date.parse(started_at))
  return span((Date.now() - Date.parse(started_at)) / 1000)
}

export function noRunsNotice({ name, type, live_deploy_id }: Service): string {
  const escapedName = plain(name)
  if (live_deploy_id === null) return `${escapedName} is not deployed yet, so nothing can run`
  return type === 'cron_job'
    ? `${escapedName} has not run yet: \`berth run ${escapedName}\` runs it now`
    : `no jobs of ${escapedName} yet: \`berth run ${escapedName} -- COMMAND\` runs one`
}

/** Truncated to the width of a line. */
export function commandOf({ command }: JobRun): string {
  return command === null ? "the image's own" : clip(plain(command), maxCommandChars)
}

/** `job-… failed (3), for 03:00, 4h ago` */
export function runSummary(run: JobRun, timeZone: string): string {
  return `${run.id} ${outcomeOf(run)}, ${originOf(run, timeZone)}, ${age(run.created_at)}`
}
