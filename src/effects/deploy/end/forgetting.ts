// Which deploys of a service stay on record: the newest two hundred, and older ones that are still referred
// to. The others are removed with their logs.
import type { Storage } from '../../../../storage/index.ts'
import type { ServiceRow } from '../../../../storage/services.ts'
import { imageName, type Owner } from '../../../docker/engine/names.ts'
import { imagesInUse, unfinishedActors } from '../../engine/images-in-use.ts'

/** Per service. */
export const maxRetainedDeploys = 200

export async function forgetOldDeploys(storage: Storage, owner: Owner): Promise<void> {
  for (const service of storage.services.list()) {
    const isRetained = (id: string) => isReferenced(storage, owner, service, id)
    for (const id of await storage.actors.removeOlder('deploy', service.id, maxRetainedDeploys, isRetained)) {
      await storage.releases.remove(id)
      await storage.logs.remove(id)
    }
  }
}

function isReferenced(storage: Storage, owner: Owner, service: ServiceRow, id: string): boolean {
  const { archive_deploy_id, former_archive_deploy_id, live_deploy_id, desired_deploy_id } = service
  if ([archive_deploy_id, former_archive_deploy_id, live_deploy_id, desired_deploy_id].includes(id))
    return true
  const { deploys, runs } = unfinishedActors(storage.actors, { serviceId: service.id })
  const referred = [
    ...deploys.map((record) => record?.source?.deploy_id),
    ...runs.map((record) => record?.deploy_id),
  ]
  if (referred.includes(id)) return true
  const needOf = imagesInUse({ owner, storage }, { serviceId: service.id })
  const name = imageName(owner, service.name, id)
  const need = needOf({ name, service: service.name, deployId: id, isTree: false })
  if (need !== 'version') return need === 'in-use'
  // The release goes with the image. A damaged record cannot be rolled back to.
  return storage.actors.record(id)?.image === name && storage.releases.has(id)
}
