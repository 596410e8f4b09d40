// Switching a service to its new deploy, and back: the edge sends requests to the new instances, then none to
// the former ones; and Docker brings back by itself only those of the version that serves.
import type { ServiceRow } from '../../../../storage/services.ts'
import { urlOf } from '../../../domain/domains.ts'
import { Failure } from '../../../errors.ts'
import { type Host, isoNow } from '../../host.ts'
import { retryWhileEngineAway } from '../../waiting.ts'
import { startAgain } from '../check/restart-after-engine.ts'
import { type DeployLog, openDeployLog } from '../log.ts'
import { admit, isServed, standAside } from './upstreams.ts'

interface SwitchInput {
  id: string
  serviceId: string
  formerDeployId: string | null
}

export function switchTraffic(host: Host) {
  return async (input: SwitchInput, signal: AbortSignal) => {
    const { id, formerDeployId } = input
    await retryWhileEngineAway(host, signal, () => putInCharge(host, id, formerDeployId))
    const log = openDeployLog(host, id)
    const instances = await retryWhileEngineAway(host, signal, () => host.instances.list({ deployId: id }))
    for (const instance of instances.filter(({ state }) => state !== 'running')) {
      if (await startAgain(host, instance, log, signal)) continue
      throw new Failure('instance_failed', `the instance ${instance.name} ended before it could serve`)
    }
    if (instances.length === 0) throw new Failure('instance_failed', 'no instance is left that could serve')
    await switchRequests(host, input, log, signal)
    sayHowLongAway(host, input.serviceId, log)
    log.say('switched to the new version', { brief: 'to the new version' })
    return { at: isoNow() }
  }
}

/** Old and new take requests side by side for a moment: there is none in which nobody does. */
async function switchRequests(
  host: Host,
  { id, serviceId, formerDeployId }: SwitchInput,
  log: DeployLog,
  signal: AbortSignal,
): Promise<void> {
  const service = host.storage.services.get(serviceId)
  if (!service || !isServed(host, service)) return
  const instances = await retryWhileEngineAway(host, signal, () => host.instances.list({ deployId: id }))
  await admit(host, { id, serviceId }, instances, signal)
  if (!service.suspended) await sayWhetherReached(host, service, log, signal)
  if (formerDeployId) await standAside(host, { id: formerDeployId, serviceId }, signal)
}

/** The check of an instance uses a socket of the edge's own: the public ports may be another program's. */
async function sayWhetherReached(
  host: Host,
  service: ServiceRow,
  log: DeployLog,
  signal: AbortSignal,
): Promise<void> {
  const problem = await host.edge.findPortProblem(signal)
  const url = urlOf(service, host.publication)
  if (problem === null) log.say(`a request through the edge reached it: ${url}`)
  else log.say(`requests to ${url} may not reach it: ${problem.message} (berth edge)`)
}

/** Where the disk had to change hands. */
function sayHowLongAway({ absences }: Host, serviceId: string, log: DeployLog): void {
  const since = absences.get(serviceId)
  absences.delete(serviceId)
  if (since !== undefined) log.say(`the service was away for ${((Date.now() - since) / 1000).toFixed(1)} s`)
}

/** Docker restarts the instances of `deployId` from now on, and no longer those of the other. */
export async function putInCharge(
  host: Host,
  deployId: string | null,
  otherId: string | null,
): Promise<void> {
  if (deployId) await setRestart(host, deployId, 'unless-stopped')
  if (otherId) await setRestart(host, otherId, 'no')
}

/** An instance that goes away meanwhile (scaled down, suspended) needs no policy any more. */
async function setRestart(host: Host, deployId: string, policy: 'no' | 'unless-stopped'): Promise<void> {
  const differing = (await host.instances.list({ deployId })).filter(({ restart }) => restart !== policy)
  for (const { name } of differing) {
    try {
      await host.instances.setRestart(name, policy)
    } catch (error) {
      if (await host.instances.inspect(name)) throw error
    }
  }
}
