// Starts the run of a scheduled time, or records why it was skipped. Repeated after a crash, it finds the run
// that it started and starts no second one.
import type { BegunRun, DueRun } from '../../../machines/cron-schedule.ts'
import type { JobRunRecord } from '../../../machines/job-run/job-run-record.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { latestTime } from '../../domain/schedule.ts'
import { timeoutOf } from '../../domain/service-types.ts'
import { codeOf, messageOf } from '../../errors.ts'
import { bySchedule } from '../by.ts'
import { isoNow } from '../iso-now.ts'
import { logOnce } from '../job-run/log-once.ts'
import { ownRuns } from '../job-run/overlapping-runs.ts'
import type { Clock } from './clock.ts'
import type { CronSchedulePorts } from './ports.ts'

interface BeginInput extends DueRun {
  id: string
  serviceId: string
}

/** A schedule that is faster than its runs would otherwise queue runs that are useless when they start. */
const maxQueued = 100

export function startRun(ports: CronSchedulePorts, clock: Clock) {
  return async (input: BeginInput): Promise<BegunRun> => {
    const isStarted = ports.storage.actors.record(input.runId) !== null
    const skipped = isStarted ? null : await startOrSkip(ports, input, new Date(clock.now()))
    if (skipped) logSkip(ports, input, skipped)
    return { at: isoNow(), skipped }
  }
}

async function startOrSkip(ports: CronSchedulePorts, input: BeginInput, now: Date): Promise<string | null> {
  const { storage, actors } = ports
  const service = storage.services.get(input.serviceId)
  if (!service || service.deleting) return 'its service is being deleted'
  if (service.suspended) return 'its service was suspended'
  const live = service.live_deploy_id ? storage.actors.record(service.live_deploy_id) : null
  if (!live) return 'its service was not live'
  if (isTooLate(service, input.instant, now)) return 'the server was down until the next run was due'
  const obstacle = await findObstacle(ports, service, input.instant)
  if (obstacle) return obstacle
  try {
    const run = {
      id: input.runId,
      serviceId: service.id,
      command: null,
      image: live.image as string,
      trigger: 'schedule' as const,
      scheduledFor: input.instant,
      overlap: service.overlap ?? 'skip',
      timeoutSeconds: timeoutOf(service),
      at: isoNow(),
    }
    await actors.spawn('job-run', input.runId, run, { by: bySchedule })
    return null
  } catch (error) {
    if (codeOf(error) !== 'conflict') throw error
    return messageOf(error)
  }
}

/** Whether the next scheduled time has passed already, because the server was down. */
function isTooLate({ schedule, timezone }: ServiceRow, instant: string, now: Date): boolean {
  const latest = schedule && latestTime(schedule, now, timezone ?? 'UTC')
  return latest ? latest.getTime() > Date.parse(instant) : false
}

/** Applies the overlap policy of the service to runs that have not ended. */
async function findObstacle(
  ports: CronSchedulePorts,
  { id, overlap }: ServiceRow,
  instant: string,
): Promise<string | null> {
  const others = [...ownRuns(ports.storage.actors, id)]
  if (overlap === 'replace') return null
  if (overlap === 'queue') return others.length < maxQueued ? null : `${others.length} runs have not ended`
  const running = others.at(-1)
  if (!running) return null
  await logOnce(ports, running.id, `the run due at ${instant} was skipped: this run has not ended`)
  return `${running.id}${scheduledTimeText(running)} had not ended`
}

function scheduledTimeText({ scheduled_for }: JobRunRecord): string {
  return scheduled_for ? ` of ${scheduled_for}` : ''
}

function logSkip(
  { storage, logger }: CronSchedulePorts,
  { serviceId, instant }: BeginInput,
  reason: string,
): void {
  const service = storage.services.get(serviceId)?.name
  logger.warn({ service, instant, reason }, 'a run of a schedule was skipped')
}
