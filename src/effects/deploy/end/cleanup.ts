// Removes what a failed or canceled deploy leaves behind, after the former version serves again. The cleanup
// is retried without limit: anything left would keep using disk space or an address.
import { imageName, treeName } from '../../../docker/engine/names.ts'
import { removeImage } from '../../../docker/images/images.ts'
import { reapGit } from '../../../git/reaper.ts'
import { imagesInUse } from '../../engine/images-in-use.ts'
import { isoNow } from '../../iso-now.ts'
import { retryUntilCleanedUp } from '../../waiting.ts'
import { removePulledNameOnly } from '../build/pull.ts'
import { openDeployLog } from '../log.ts'
import type { DeployPorts } from '../ports.ts'
import { removeFormerArchives } from '../source/archive.ts'
import { removeWork } from '../source/source.ts'
import { moveRestartPolicy } from '../switch/switch.ts'
import { drainUpstreamsBestEffort, releaseSlots, restoreUpstreams } from '../switch/upstreams.ts'
import { stopInstances } from './drain.ts'

interface CleanupInput {
  id: string
  serviceId: string
  formerDeployId: string | null
  outcome: string
  canceled: boolean
}

export function removeTraces(ports: DeployPorts) {
  return async (input: CleanupInput, signal: AbortSignal) => {
    const { id, formerDeployId, outcome, canceled } = input
    ports.downtimes.end(input.serviceId)
    // Clients that follow the log do not wait for the cleanup.
    await openDeployLog(ports, id).close(canceled ? outcome : `failed: ${outcome}`)
    await reapGit(id)
    await retryUntilCleanedUp(ports, id, signal, () => removePulledNameOnly(ports, id, signal))
    await removeWork(ports, id)
    await retryUntilCleanedUp(ports, id, signal, async () => {
      const previous = stillLive(ports, input) ? formerDeployId : null
      await moveRestartPolicy(ports, previous, id)
      if (previous) await restoreUpstreams(ports, { id: previous, serviceId: input.serviceId }, signal)
      await drainUpstreamsBestEffort(ports, input, signal)
      await stopInstances(ports, id)
      await removeOwnImage(ports, input)
    })
    await releaseSlots(ports, input, signal)
    await ports.storage.addresses.release(id)
    await ports.storage.releases.remove(id)
    await removeFormerArchives(ports)
    return { at: isoNow() }
  }
}

function stillLive(ports: DeployPorts, { serviceId, formerDeployId }: CleanupInput): boolean {
  return ports.storage.services.get(serviceId)?.live_deploy_id === formerDeployId
}

async function removeOwnImage(ports: DeployPorts, { id, serviceId }: CleanupInput): Promise<void> {
  const service = ports.storage.services.get(serviceId)
  if (!service) return
  const needOf = imagesInUse(ports, { serviceId, endingId: id })
  for (const [nameOf, isTree] of [[imageName, false] as const, [treeName, true] as const]) {
    const name = nameOf(ports.owner, service.name, id)
    const need = needOf({ name, service: service.name, deployId: id, isTree })
    if (need !== 'in-use') await removeImage(ports.engine, ports.owner, name)
  }
}
