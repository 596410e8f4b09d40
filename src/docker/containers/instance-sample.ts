// What all running instances of this server use, by one list and one call for each. It is for metrics: what
// cannot be read is left out.
import { codeOf } from '../../errors.ts'
import type { Engine } from '../engine/client.ts'
import { instanceKind, labelFilter, labels, type Owner, ownerFilter } from '../engine/names.ts'
import { readUsage } from './instance-usage.ts'

export interface InstanceSample {
  containerId: string
  serviceId: string
  deployId: string
  /** Null if it cannot be read, for example because the container has ended. */
  usage: { cpuSeconds: number; memoryBytes: number } | null
}

/** Docker 20.10 samples all requested containers once a second, so each call takes up to a second. */
const parallel = 32

/** Throws `docker_unavailable`, at the first call without an answer. */
export async function sampleInstances(engine: Engine, owner: Owner): Promise<InstanceSample[]> {
  const label = [...ownerFilter(owner), ...labelFilter({ [labels.kind]: instanceKind })]
  const containers = await engine.call('list running instances', (abortSignal) =>
    engine.docker.listContainers({ filters: { label, status: ['running'] }, abortSignal }),
  )
  const samples: InstanceSample[] = []
  const queue = containers.values()
  const work = async () => {
    for (const { Id: containerId, Labels } of queue) {
      const usage = await readUsage(engine, engine.docker.getContainer(containerId)).catch(nullIfUnavailable)
      const about = { serviceId: Labels[labels.serviceId] ?? '', deployId: Labels[labels.id] ?? '' }
      samples.push({ containerId, ...about, usage })
    }
  }
  await Promise.all(Array.from({ length: parallel }, work))
  return samples
}

function nullIfUnavailable(error: unknown): null {
  if (codeOf(error) === 'docker_unavailable') throw error
  return null
}
