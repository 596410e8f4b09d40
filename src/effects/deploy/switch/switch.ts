// Switches a service to its new deploy, and back: the edge sends requests to the new instances, then none to
// the previous ones, and Docker's restart policy applies only to the version that serves.
import type { ServiceRow } from '../../../../storage/services.ts'
import { urlOf } from '../../../domain/domains.ts'
import { Failure } from '../../../errors.ts'
import { duration } from '../../../quantities.ts'
import { restartInstance } from '../check/check.ts'
import type { DeployPhase } from '../phase.ts'
import type { DeployPorts } from '../ports.ts'
import { admit, drainUpstreams, isBehindEdge } from './upstreams.ts'

interface SwitchInput {
  formerDeployId: string | null
}

export async function switchTraffic(phase: DeployPhase, { formerDeployId }: SwitchInput) {
  const { ports, id, log } = phase
  await phase.withEngine(() => moveRestartPolicy(ports, id, formerDeployId))
  const instances = await phase.withEngine(() => phase.listInstances())
  for (const instance of instances.filter(({ state }) => state !== 'running')) {
    if (await restartInstance(phase, instance)) continue
    throw new Failure('instance_failed', `the instance ${instance.name} ended before it could serve`)
  }
  if (instances.length === 0) throw new Failure('instance_failed', 'no instance is left to serve')
  const status = await switchRequests(phase, formerDeployId)
  logDowntime(phase)
  log.info('switched to the new version', { brief: 'to the new version' })
  return { status }
}

/** Old and new instances both accept requests for a moment, so the service always has an instance. */
async function switchRequests(phase: DeployPhase, formerDeployId: string | null): Promise<number | null> {
  const service = phase.ports.storage.services.get(phase.serviceId)
  if (!service || !isBehindEdge(phase.ports, service)) return null
  const status = await admit(phase, await phase.withEngine(() => phase.listInstances()))
  if (!service.suspended) await logReachability(phase, service, status)
  await drainUpstreams(phase, formerDeployId)
  return status
}

/** Instances are checked on another socket of the edge, and another program may have the public ports. */
async function logReachability(
  { ports, log, signal }: DeployPhase,
  service: ServiceRow,
  status: number | null,
): Promise<void> {
  const problem = await ports.edge.findPortProblem(signal)
  const url = urlOf(service, ports.publication)
  const answer = status === null ? '' : `it answered ${status}, `
  if (problem === null) log.info(`a request through the edge reached the instance: ${answer}${url}`)
  else log.info(`requests to ${url} may not reach it: ${problem.message} (berth edge)`)
}

/** Only a switch that moves a disk has a downtime. */
function logDowntime({ ports: { downtimes }, serviceId, log }: DeployPhase): void {
  const startedAt = downtimes.get(serviceId)
  downtimes.delete(serviceId)
  if (startedAt !== undefined) log.info(`downtime: ${duration(Date.now() - startedAt)}`)
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
