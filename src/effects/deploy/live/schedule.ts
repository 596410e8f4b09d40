// What a live deploy of a cron job does instead of running instances: it ensures that its service has a
// schedule. The schedule is a separate actor, and continues with the next live deploy.
import type { CronScheduleInput } from '../../../../machines/cron-schedule.ts'
import type { ServiceRow } from '../../../../storage/services.ts'
import { scheduleIdOf } from '../../../domain/service-types.ts'
import { codeOf, messageOf } from '../../../errors.ts'
import { planOf } from '../../cron-schedule/plan.ts'
import { isoNow } from '../../iso-now.ts'
import { waitForCommit } from '../../waiting.ts'
import type { DeployPorts } from '../ports.ts'

/** Returns when another deploy is live, or the service is being deleted. */
export async function superviseSchedule(
  ports: DeployPorts,
  deployId: string,
  service: ServiceRow,
  signal: AbortSignal,
) {
  const { id: serviceId } = service
  const id = scheduleIdOf(serviceId)
  const plan = planOf(service)
  if (plan) await startSchedule(ports, id, { id, serviceId, plan, at: isoNow() })
  await waitForCommit(ports.storage.changes, serviceId, signal, () => {
    const now = ports.storage.services.get(serviceId)
    return now && !now.deleting && now.live_deploy_id === deployId ? null : true
  })
}

/** A schedule that cannot start reports why itself: the deploy is not at fault, and manual runs work. */
async function startSchedule(
  { actors, logger }: DeployPorts,
  id: string,
  input: CronScheduleInput,
): Promise<void> {
  try {
    await actors.spawn('cron-schedule', id, input)
  } catch (error) {
    if (codeOf(error) === 'commit_failed') throw error
    logger.error({ schedule: id, reason: messageOf(error) }, 'a schedule could not be started')
  }
}
