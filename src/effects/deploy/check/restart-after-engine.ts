// Restarts an instance that ended only because the Docker engine was restarted. The version is not at fault.
import type { InstanceState } from '../../../docker/containers/instances.ts'
import { wasEngineRestarted } from '../../../docker/engine/events.ts'
import { retryWhileEngineUnavailable } from '../../waiting.ts'
import type { DeployLog } from '../log.ts'
import type { DeployPorts } from '../ports.ts'

/** Returns false, without a restart, if the instance ended for another reason or is gone. */
export async function restartInstance(
  ports: DeployPorts,
  instance: InstanceState | null,
  log: DeployLog,
  signal: AbortSignal,
): Promise<boolean> {
  if (instance === null) return false
  const { engine, instances } = ports
  if (!(await retryWhileEngineUnavailable(ports, signal, () => wasEngineRestarted(engine, instance))))
    return false
  log.info('the Docker engine was restarted: starting the instance again')
  await retryWhileEngineUnavailable(ports, signal, () => instances.start(instance.name))
  return true
}
