// Our images are identified only by their name, so the images of a data directory whose prefix was taken
// over look like ours. This module never lists them, so they are never removed.
import { listImages, type OwnImage } from '../../docker/images/images.ts'
import type { Host } from '../host.ts'

/** The images of one service, or of all services. */
export async function listOwnImages(host: Pick<Host, 'engine' | 'owner' | 'storage'>, service?: string) {
  const { actors, predecessors } = host.storage
  const isOurs = ({ deployId }: OwnImage) =>
    !predecessors.mayHaveMade(deployId) || actors.record(deployId) !== null
  return (await listImages(host.engine, host.owner, service)).filter(isOurs)
}
