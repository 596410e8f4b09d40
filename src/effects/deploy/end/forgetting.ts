// Which deploys of a service stay on record: the newest two hundred, and older ones that something still
// refers to. The others are forgotten with their logs.
import type { DeploySource } from '../../../../machines/deploy/deploy-context.ts'
import type { Storage } from '../../../../storage/index.ts'
import type { ServiceRow } from '../../../../storage/services.ts'
import { imageName, type Owner } from '../../../docker/engine/names.ts'

/** Of each service. */
export const deploysKept = 200

export async function forgetOldDeploys(storage: Storage, owner: Owner): Promise<void> {
  for (const service of storage.services.list()) {
    const isKept = (id: string) => isReferred(storage, owner, service, id)
    for (const id of await storage.actors.forgetOlder('deploy', service.id, deploysKept, isKept)) {
      await storage.releases.remove(id)
      await storage.logs.remove(id)
    }
  }
}

function isReferred(storage: Storage, owner: Owner, service: ServiceRow, id: string): boolean {
  const { archive_deploy_id, former_archive_deploy_id, live_deploy_id, desired_deploy_id } = service
  if ([archive_deploy_id, former_archive_deploy_id, live_deploy_id, desired_deploy_id].includes(id))
    return true
  const image = imageName(owner, service.name, id)
  if (storage.actors.record(id)?.image === image && storage.releases.has(id)) return true
  return isInUse(storage, service, id, image)
}

/** A queued or running actor may still read its record, its release or its image. */
function isInUse({ actors }: Storage, { id: serviceId }: ServiceRow, id: string, image: string): boolean {
  const deploys = [...actors.active('deploy', serviceId)].map((actor) => actors.record(actor.id))
  const runs = [...actors.active('job-run', serviceId)].map((actor) => actors.record(actor.id))
  const targets = deploys.map((record) => (record?.source as DeploySource | undefined)?.deploy_id)
  const sources = runs.map((record) => record?.deploy_id)
  return [...targets, ...sources].includes(id) || [...deploys, ...runs].some((one) => one?.image === image)
}
