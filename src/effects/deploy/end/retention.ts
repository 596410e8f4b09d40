// Which images of a service stay: the newest N that were built, and those in use. Only ours ever go.
import type { DeploySource } from '../../../../machines/deploy/deploy-context.ts'
import { imageName, type Owner } from '../../../docker/engine/names.ts'
import { type OwnImage, removeImage } from '../../../docker/images/images.ts'
import { codeOf, messageOf } from '../../../errors.ts'
import { listOwnImages } from '../../engine/own-images.ts'
import type { Host } from '../../host.ts'

/** How far back releases are looked for that a removed image made useless. */
const deploysLookedAt = 500

/** Removes older images of that service, and the releases that nothing can run any more. */
export async function removeOldImages(host: Host, serviceId: string, drainedId?: string): Promise<void> {
  const service = host.storage.services.get(serviceId)
  if (!service) return
  const images = await listOwnImages(host, service.name)
  const names = new Set(images.map(({ name }) => name))
  const newestFirst = images.sort((a, b) => (a.deployId < b.deployId ? 1 : -1))
  const versions = newestFirst.filter((image) => !image.isTree && isOfRecord(host.storage.actors, image))
  const active = new Set([...host.storage.actors.active('deploy', serviceId)].map(({ id }) => id))
  const strays = newestFirst.filter(
    (image) =>
      isUsedUpTree(host.owner, image, names) || (!versions.includes(image) && !active.has(image.deployId)),
  )
  const inUse = imagesInUse(host, serviceId, drainedId)
  for (const { name } of [...versions.slice(host.settings.keepImages), ...strays]) {
    if (!inUse.has(name)) await removeVersion(host, serviceId, name)
  }
}

/**
 * Whether a deploy says that this is its image. A builder may name one after it was told to stop, when the
 * deploy has removed its traces: nobody would ever run it.
 */
export function isOfRecord(actors: Host['storage']['actors'], { name, deployId }: OwnImage): boolean {
  const record = actors.record(deployId)
  // A damaged record does not tell.
  return record !== null && (record.image === undefined || record.image === name)
}

/** A tree is for the build of the site that is made from it. */
export function isUsedUpTree(owner: Owner, { isTree, service, deployId }: OwnImage, names: Set<string>) {
  return isTree && names.has(imageName(owner, service, deployId))
}

/** Somebody may be using the image by hand: then it stays, and is tried again after the next deploy. */
async function removeVersion(host: Host, serviceId: string, image: string): Promise<void> {
  try {
    // Releases first: once the image is gone nobody would come back for them.
    await removeReleases(host, serviceId, image)
    await removeImage(host.engine, host.owner, image)
  } catch (error) {
    if (codeOf(error) !== 'docker_error') throw error
    host.logger.info({ image, reason: messageOf(error) }, 'an old image stays')
  }
}

/** Every image that an active deploy of the service runs or is about to run, but for one that has drained. */
function imagesInUse(host: Host, serviceId: string, drainedId: string | undefined): Set<unknown> {
  const { actors } = host.storage
  const active = [...actors.active('deploy', serviceId)].filter(({ id }) => id !== drainedId)
  const records = active.map(({ id }) => actors.record(id))
  // A queued rollback has no image of its own yet: what it was asked to run must still be there then.
  const targets = records.map((record) => (record?.source as DeploySource | undefined)?.deploy_id)
  const wanted = targets.map((id) => (id ? actors.record(id)?.image : null))
  return new Set([...records.map((record) => record?.image), ...wanted, ...imagesOfRuns(host, serviceId)])
}

/** A run has the image, and the release, of what was live when it began. */
function imagesOfRuns({ storage: { actors } }: Host, serviceId: string): unknown[] {
  return [...actors.active('job-run', serviceId)].map(({ id }) => actors.record(id)?.image)
}

/** A restart has a release of its own and another deploy's image. */
async function removeReleases(host: Host, serviceId: string, image: string): Promise<void> {
  const deploys = host.storage.actors.list('deploy', serviceId, deploysLookedAt)
  for (const deploy of deploys) {
    if (deploy.image === image) await host.storage.releases.remove(deploy.id)
  }
}
