// Removing what a failed or canceled deploy leaves, after the former one is back in charge.
// Mind: this never gives up. A trace that stays is somebody's disk, address or money.

import { imageName, treeName } from '../../../docker/engine/names.ts'
import { removeImage } from '../../../docker/images/images.ts'
import { reapGit } from '../../../git/reaper.ts'
import { imagesInUse } from '../../engine/images-in-use.ts'
import { type Host, isoNow } from '../../host.ts'
import { retryUntilCleanedUp } from '../../waiting.ts'
import { takeOffPulledName } from '../build/pulled-name.ts'
import { openDeployLog } from '../log.ts'
import { removeFormerArchives } from '../source/archive.ts'
import { removeWork } from '../source/source.ts'
import { putInCharge } from '../switch/switch.ts'
import { forget, putBack, takeOut } from '../switch/upstreams.ts'
import { stopInstances } from './drain.ts'

interface TracesInput {
  id: string
  serviceId: string
  formerDeployId: string | null
  outcome: string
  canceled: boolean
}

export function removeTraces(host: Host) {
  return async (input: TracesInput, signal: AbortSignal) => {
    const { id, formerDeployId, outcome, canceled } = input
    host.absences.delete(input.serviceId)
    // Who follows the log need not wait for the cleanup.
    await openDeployLog(host, id).close(canceled ? outcome : `failed: ${outcome}`)
    await reapGit(id)
    await retryUntilCleanedUp(host, id, signal, () => takeOffPulledName(host, id, signal))
    await removeWork(host, id)
    await retryUntilCleanedUp(host, id, signal, async () => {
      const former = stillLive(host, input) ? formerDeployId : null
      await putInCharge(host, former, id)
      if (former) await putBack(host, { id: former, serviceId: input.serviceId }, signal)
      await takeOut(host, input, signal)
      await stopInstances(host, id)
      await removeOwnImage(host, input)
    })
    await forget(host, input, signal)
    await host.storage.addresses.release(id)
    await host.storage.releases.remove(id)
    await removeFormerArchives(host)
    return { at: isoNow() }
  }
}

function stillLive(host: Host, { serviceId, formerDeployId }: TracesInput): boolean {
  return host.storage.services.get(serviceId)?.live_deploy_id === formerDeployId
}

async function removeOwnImage(host: Host, { id, serviceId }: TracesInput): Promise<void> {
  const service = host.storage.services.get(serviceId)
  if (!service) return
  const needOf = imagesInUse(host, { serviceId, endingId: id })
  for (const [nameOf, isTree] of [[imageName, false] as const, [treeName, true] as const]) {
    const name = nameOf(host.owner, service.name, id)
    const need = needOf({ name, service: service.name, deployId: id, isTree })
    if (need !== 'in-use') await removeImage(host.engine, host.owner, name)
  }
}
