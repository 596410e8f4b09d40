// The settings and env of a deploy, frozen when it got its turn.
import type { Release } from '../../../storage/releases.ts'
import type { DeployPorts } from './ports.ts'

export function requireRelease(ports: Pick<DeployPorts, 'storage'>, deployId: string): Release {
  const release = ports.storage.releases.get(deployId)
  if (!release) throw new Error(`the release of ${deployId} is gone`)
  return release
}
