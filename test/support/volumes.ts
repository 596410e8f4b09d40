// The volumes of the engine that Docker named itself.
import Docker from 'dockerode'
import { ensureEngine } from './engine.ts'

export async function anonymousVolumes(): Promise<string[]> {
  const docker = new Docker({ socketPath: (await ensureEngine()).replace('unix://', '') })
  const { Volumes } = await docker.listVolumes()
  return (Volumes ?? []).map(({ Name }) => Name).filter((name) => /^[0-9a-f]{64}$/.test(name))
}
