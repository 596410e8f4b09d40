// Our images are known by their name alone, so those of a data directory whose prefix was taken over look
// like ours. Nothing here may remove them.
import { listImages, type OwnImage } from '../docker/images.ts'
import type { Host } from './host.ts'

/** Of one service or of all. */
export async function listOwnImages(host: Pick<Host, 'engine' | 'owner' | 'storage'>, service?: string) {
  const { actors, predecessors } = host.storage
  const isOurs = ({ deployId }: OwnImage) =>
    !predecessors.mayHaveMade(deployId) || actors.record(deployId) !== null
  return (await listImages(host.engine, host.owner, service)).filter(isOurs)
}
