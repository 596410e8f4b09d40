// The volumes that Docker created for the VOLUME paths of the images of a service.
import Docker from 'dockerode'
import { ensureEngine } from '../docker/engine.ts'

export async function imageVolumesOf(service: string): Promise<string[]> {
  const docker = new Docker({ socketPath: (await ensureEngine()).replace('unix://', '') })
  const filters = { label: ['berth.kind=image-volume', `berth.service=${service}`] }
  const { Volumes } = await docker.listVolumes({ filters })
  return (Volumes ?? []).map(({ Name }) => Name).sort()
}
