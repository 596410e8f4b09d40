// Which images of a service stay: the newest N that were built, and those that are still in use.
import { listImages, removeImage } from '../../../docker/images/images.ts'
import { codeOf, messageOf } from '../../../errors.ts'
import { imagesInUse, isRecorded } from '../../engine/images-in-use.ts'
import type { DeployPorts } from '../ports.ts'

/** How many deploys are searched for releases that need a removed image. */
const maxDeploysSearched = 500

/** Removes older images of that service, and the releases that can no longer run. */
export async function removeOldImages(
  ports: DeployPorts,
  serviceId: string,
  drainedId?: string,
): Promise<void> {
  const service = ports.storage.services.get(serviceId)
  if (!service) return
  const images = await listImages(ports.engine, ports.owner, service.name)
  const present = new Set(images.map(({ name }) => name))
  const newestFirst = images.sort((a, b) => (a.deployId < b.deployId ? 1 : -1))
  const versions = newestFirst.filter((image) => !image.isTree && isRecorded(ports.storage.actors, image))
  const older = new Set(versions.slice(ports.settings.keepImages))
  const needOf = imagesInUse(ports, { serviceId, endingId: drainedId })
  const needs = newestFirst.map((image) => [image, needOf(image, present)] as const)
  for (const [image, need] of needs) {
    const isSurplus = need === null || (need === 'version' && older.has(image))
    if (isSurplus) await removeVersion(ports, serviceId, image.name)
  }
}

/** If the image is in use outside of Berth, it stays and the removal is retried after the next deploy. */
async function removeVersion(ports: DeployPorts, serviceId: string, image: string): Promise<void> {
  try {
    // Releases are removed first: without the image they could not be found again.
    await removeReleases(ports, serviceId, image)
    await removeImage(ports.engine, ports.owner, image)
  } catch (error) {
    if (codeOf(error) !== 'docker_error') throw error
    ports.logger.info({ image, reason: messageOf(error) }, 'an old image could not be removed')
  }
}

/** A restart has its own release and the image of another deploy. */
async function removeReleases(ports: DeployPorts, serviceId: string, image: string): Promise<void> {
  const deploys = ports.storage.actors.list('deploy', serviceId, maxDeploysSearched)
  for (const deploy of deploys) {
    if (deploy.image === image) await ports.storage.releases.remove(deploy.id)
  }
}
