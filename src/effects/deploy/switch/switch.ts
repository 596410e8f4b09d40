// Switches a service to its new deploy, and back: the edge sends requests to the new instances, then none to
// the previous ones, and Docker's restart policy applies only to the version that serves.
import type { ServiceRow } from '../../../../storage/services.ts'
import { urlOf } from '../../../domain/domains.ts'
import { Failure } from '../../../errors.ts'
import { duration } from '../../../quantities.ts'
import { isoNow } from '../../iso-now.ts'
import { retryWhileEngineUnavailable } from '../../waiting.ts'
import { restartInstance } from '../check/check.ts'
import { type DeployLog, openDeployLog } from '../log.ts'
import type { DeployPorts } from '../ports.ts'
import { admit, drainUpstreams, isBehindEdge } from './upstreams.ts'

interface SwitchInput {
  id: string
  serviceId: string
  formerDeployId: string | null
}

export function switchTraffic(ports: DeployPorts) {
  return async (input: SwitchInput, signal: AbortSignal) => {
    const { id, formerDeployId } = input
    await retryWhileEngineUnavailable(ports, signal, () => moveRestartPolicy(ports, id, formerDeployId))
    const log = openDeployLog(ports, id)
    const instances = await retryWhileEngineUnavailable(ports, signal, () =>
      ports.instances.list({ deployId: id }),
    )
    for (const instance of instances.filter(({ state }) => state !== 'running')) {
      if (await restartInstance(ports, instance, log, signal)) continue
      throw new Failure('instance_failed', `the instance ${instance.name} ended before it could serve`)
    }
    if (instances.length === 0) throw new Failure('instance_failed', 'no instance is left to serve')
    await switchRequests(ports, input, log, signal)
    logDowntime(ports, input.serviceId, log)
    log.info('switched to the new version', { brief: 'to the new version' })
    return { at: isoNow() }
  }
}

/** Old and new instances both accept requests for a moment, so the service always has an instance. */
async function switchRequests(
  ports: DeployPorts,
  { id, serviceId, formerDeployId }: SwitchInput,
  log: DeployLog,
  signal: AbortSignal,
): Promise<void> {
  const service = ports.storage.services.get(serviceId)
  if (!service || !isBehindEdge(ports, service)) return
  const instances = await retryWhileEngineUnavailable(ports, signal, () =>
    ports.instances.list({ deployId: id }),
  )
  await admit(ports, { id, serviceId }, instances, signal)
  if (!service.suspended) await logReachability(ports, service, log, signal)
  if (formerDeployId) await drainUpstreams(ports, { id: formerDeployId, serviceId }, signal)
}

/** Instances are checked on another socket of the edge, and another program may have the public ports. */
async function logReachability(
  ports: DeployPorts,
  service: ServiceRow,
  log: DeployLog,
  signal: AbortSignal,
): Promise<void> {
  const problem = await ports.edge.findPortProblem(signal)
  const url = urlOf(service, ports.publication)
  if (problem === null) log.info(`a request through the edge reached the instance: ${url}`)
  else log.info(`requests to ${url} may not reach it: ${problem.message} (berth edge)`)
}

/** Only a switch that moves a disk has a downtime. */
function logDowntime({ downtimes }: DeployPorts, serviceId: string, log: DeployLog): void {
  const durationMs = downtimes.end(serviceId)
  if (durationMs !== null) log.info(`downtime: ${duration(durationMs)}`)
}

/** Docker restarts the instances of `deployId` from now on, and no longer those of the other. */
export async function moveRestartPolicy(
  ports: DeployPorts,
  deployId: string | null,
  otherId: string | null,
): Promise<void> {
  if (deployId) await setRestart(ports, deployId, 'unless-stopped')
  if (otherId) await setRestart(ports, otherId, 'no')
}

/** An instance that was removed in the meantime (scaled down, suspended) needs no restart policy. */
async function setRestart(
  ports: DeployPorts,
  deployId: string,
  policy: 'no' | 'unless-stopped',
): Promise<void> {
  const differing = (await ports.instances.list({ deployId })).filter(({ restart }) => restart !== policy)
  for (const { name } of differing) {
    try {
      await ports.instances.setRestart(name, policy)
    } catch (error) {
      if (await ports.instances.inspect(name)) throw error
    }
  }
}
