// A summary of all instances from one request, for frequent polling: their identity and whether they run.
// It does not contain their start times.
import type { Engine } from '../engine/client.ts'
import { instanceKind, labelFilter, labels, type Owner, ownerFilter } from '../engine/names.ts'

export interface InstanceSummary {
  containerId: string
  name: string
  deployId: string
  serviceId: string
  index: number
  /** It runs, or Docker is about to start it again. */
  isUp: boolean
}

/** Every instance there is, in no order. Throws `docker_unavailable`, and the signal's reason. */
export async function summarizeInstances(
  { docker, call }: Engine,
  owner: Owner,
  signal: AbortSignal,
): Promise<InstanceSummary[]> {
  const label = [...ownerFilter(owner), ...labelFilter({ [labels.kind]: instanceKind })]
  const containers = await call(
    'look at instances',
    (abortSignal) => docker.listContainers({ all: true, filters: { label }, abortSignal }),
    { signal },
  )
  return containers.map(({ Id, Names, Labels, State }) => ({
    containerId: Id,
    name: (Names[0] ?? '').replace(/^\//, ''),
    deployId: Labels[labels.id] ?? '',
    serviceId: Labels[labels.serviceId] ?? '',
    index: Number(Labels[labels.index] ?? 0),
    isUp: State === 'running' || State === 'restarting' || State === 'paused',
  }))
}
