// What a live deploy of a cron job does instead of keeping instances: its service has a schedule at work.
// The schedule is an actor of its own, and goes on with the next live deploy.
import type { CronScheduleInput } from '../../../../machines/cron-schedule.ts'
import type { ServiceRow } from '../../../../storage/services.ts'
import { scheduleIdOf } from '../../../domain/job-defaults.ts'
import { codeOf, messageOf } from '../../../errors.ts'
import { planOf } from '../../cron-schedule/plan.ts'
import { isoNow } from '../../iso-now.ts'
import { untilCommitted } from '../../waiting.ts'
import type { DeployPorts } from '../ports.ts'

/** Until another deploy is live, or the service is deleted. */
export async function keepSchedule(
  ports: DeployPorts,
  deployId: string,
  service: ServiceRow,
  signal: AbortSignal,
) {
  const { id: serviceId } = service
  const id = scheduleIdOf(serviceId)
  const plan = planOf(service)
  if (plan) await startSchedule(ports, id, { id, serviceId, plan, at: isoNow() })
  await untilCommitted(ports.storage.changes, serviceId, signal, () => {
    const now = ports.storage.services.get(serviceId)
    return now && !now.deleting && now.live_deploy_id === deployId ? null : true
  })
}

/** One that cannot be started says so itself: what is live is not at fault, and runs by hand go on. */
async function startSchedule(
  { actors, logger }: DeployPorts,
  id: string,
  input: CronScheduleInput,
): Promise<void> {
  try {
    await actors.spawn('cron-schedule', id, input)
  } catch (error) {
    if (codeOf(error) === 'commit_failed') throw error
    logger.error({ schedule: id, reason: messageOf(error) }, 'a schedule is not at work')
  }
}
