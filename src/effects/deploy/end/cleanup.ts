// Removes what a failed or canceled deploy leaves behind, after the former version serves again. The cleanup
// is retried without limit: anything left would keep using disk space or an address.
import { imageName, treeName } from '../../../docker/engine/names.ts'
import { removeImage } from '../../../docker/images/images.ts'
import { reapProcesses } from '../../../process-groups.ts'
import { removeFormerArchives } from '../../../sources/archive.ts'
import { imagesInUse } from '../../engine/images-in-use.ts'
import { retryUntilCleanedUp } from '../../waiting.ts'
import type { DeployPhase } from '../phase.ts'
import { removeWork } from '../source/source.ts'
import { moveRestartPolicy } from '../switch/switch.ts'
import { drainUpstreamsBestEffort, releaseSlots, restoreUpstreams } from '../switch/upstreams.ts'
import { stopInstances } from './drain.ts'

interface CleanupInput {
  formerDeployId: string | null
  outcome: string
  canceled: boolean
}

export async function removeTraces(phase: DeployPhase, { formerDeployId, outcome, canceled }: CleanupInput) {
  const { ports, id, serviceId, signal } = phase
  const { storage } = ports
  ports.downtimes.delete(serviceId)
  // Clients that follow the log do not wait for the cleanup.
  await phase.log.close(canceled ? outcome : `failed: ${outcome}`)
  await reapProcesses(id)
  await removeWork(ports, id)
  await retryUntilCleanedUp(ports, id, signal, async () => {
    const isStillLive = storage.services.get(serviceId)?.live_deploy_id === formerDeployId
    const previous = isStillLive ? formerDeployId : null
    await moveRestartPolicy(ports, previous, id)
    if (previous) await restoreUpstreams(phase, previous)
    await drainUpstreamsBestEffort(ports, phase, signal)
    await stopInstances(ports, id)
    await removeOwnImage(phase)
  })
  await releaseSlots(ports, phase, signal)
  await storage.addresses.release(id)
  await storage.releases.remove(id)
  await removeFormerArchives(ports)
}

async function removeOwnImage({ ports, id, serviceId }: DeployPhase): Promise<void> {
  const service = ports.storage.services.get(serviceId)
  if (!service) return
  const needOf = imagesInUse(ports, { serviceId, endingId: id })
  for (const [nameOf, isTree] of [[imageName, false] as const, [treeName, true] as const]) {
    const name = nameOf(ports.owner, service.name, id)
    const need = needOf({ name, service: service.name, deployId: id, isTree })
    if (need !== 'in-use') await removeImage(ports.engine, ports.owner, name)
  }
}
