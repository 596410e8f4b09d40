// Starts the automatic deploys of each service that has them on. Their actor stays until the service is
// removed: while they are off, it is paused.
import type { ServiceRow } from '../../../storage/services.ts'
import { autoDeployIdOf, planOf } from '../../domain/auto-deploys.ts'
import { codeOf, messageOf } from '../../errors.ts'
import { isoNow } from '../iso-now.ts'
import type { SharedPorts } from '../ports.ts'

/** Returns the function that ends it. */
export function keepAutoDeploys(ports: SharedPorts): () => void {
  const { services, changes } = ports.storage
  for (const service of services.list()) void start(ports, service)
  return changes.subscribe(({ kind, service_id: id }) => {
    const service = kind === 'service' && id !== null ? services.get(id) : null
    if (service) void start(ports, service)
  })
}

async function start({ storage, actors, logger }: SharedPorts, service: ServiceRow): Promise<void> {
  const id = autoDeployIdOf(service.id)
  const plan = planOf(service)
  if (plan === null || plan.obstacle !== null || storage.actors.record(id) !== null) return
  try {
    await actors.spawn('auto-deploy', id, { id, serviceId: service.id, plan, at: isoNow() })
  } catch (error) {
    // Without a record, the next change of the service or the next start tries again.
    if (codeOf(error) === 'conflict') return
    logger.error(
      { service: service.name, reason: messageOf(error) },
      'automatic deploys could not be started',
    )
  }
}
