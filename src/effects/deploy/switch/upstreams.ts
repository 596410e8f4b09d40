// Instances as upstreams of the edge: they get requests only after a request through the edge has reached
// them, and are removed without cutting open requests. Does nothing for services without a public address.
import type { ServiceRow } from '../../../../storage/services.ts'
import type { UpstreamRow } from '../../../../storage/upstreams.ts'
import { sleep } from '../../../async/sleep.ts'
import type { InstanceState } from '../../../docker/containers/instances.ts'
import { defaultHost, isPublicType } from '../../../domain/domains.ts'
import { Failure } from '../../../errors.ts'
import { isUpstreamOf } from '../../edge/haproxy-edge.ts'
import type { DeployPorts } from '../ports.ts'
import { requireRelease } from '../release.ts'

interface DeployRef {
  id: string
  serviceId: string
}

const pollIntervalMs = 250

export function isBehindEdge(ports: DeployPorts, service: Pick<ServiceRow, 'type'> | null): boolean {
  return service !== null && !ports.edge.isOff && isPublicType(service.type)
}

/**
 * Sends requests to instances that have passed their check: first one verification request through the edge,
 * then client requests. Admitted instances stay admitted. Throws `not_reached`.
 */
export async function admit(
  ports: DeployPorts,
  { id, serviceId }: DeployRef,
  instances: readonly InstanceState[],
  signal: AbortSignal,
  withinMs?: number,
): Promise<void> {
  const { upstreams } = ports.storage
  const pending = instances.filter((instance) => !isAdmitted(ports, { id, serviceId }, instance))
  if (pending.length === 0) return
  const slots = await allocateSlots(ports, { id, serviceId }, pending)
  await ports.edge.apply(serviceId, signal, withinMs)
  await verify(ports, { id, serviceId }, slots, signal)
  signal.throwIfAborted()
  const admitted = new Set(pending.map(({ index }) => index))
  await upstreams.setState(serviceId, (row) => row.deploy_id === id && admitted.has(row.index), 'ready')
  await ports.edge.apply(serviceId, signal, withinMs)
}

/** Whether this run of the instance gets requests already. */
export function isAdmitted(
  { storage }: DeployPorts,
  { id, serviceId }: DeployRef,
  instance: InstanceState,
): boolean {
  const { index, startedAt } = instance
  const rows = storage.upstreams.list(serviceId).filter(isUpstreamOf(id))
  return rows.some((row) => row.index === index && row.run === startedAt && row.state === 'ready')
}

async function allocateSlots(
  ports: DeployPorts,
  { id, serviceId }: DeployRef,
  instances: InstanceState[],
): Promise<number[]> {
  const { storage } = ports
  await storage.upstreams.allocatePool(serviceId)
  const port = storage.actors.record(id)?.port as number
  const { protocol = 'http' } = requireRelease(ports, id).settings
  const slots: number[] = []
  for (const { index, address, startedAt: run } of instances) {
    if (!address) throw new Failure('instance_failed', `instance ${index + 1} no longer has an address`)
    const wanted = { deploy_id: id, index, address, port, protocol, state: 'verifying' as const, run }
    slots.push((await storage.upstreams.put(serviceId, wanted)).slot)
  }
  return slots
}

/** A suspended service gets no requests through the edge, so there is nothing to verify. */
async function verify(
  ports: DeployPorts,
  { id, serviceId }: DeployRef,
  slots: number[],
  signal: AbortSignal,
): Promise<void> {
  const { settings } = requireRelease(ports, id)
  const service = ports.storage.services.get(serviceId)
  const pool = ports.storage.upstreams.poolOf(serviceId)
  if (!service || pool === null) throw new Failure('not_found', 'the service is being deleted')
  if (service.suspended) return
  const name = defaultHost(service.name, ports.settings.baseDomain)
  const healthPath = settings.health_check_path
  for (const slot of slots) {
    await ports.edge.verify({ pool, slot, host: name, healthPath }, signal).catch((error: unknown) => {
      // If the service was suspended during the check, the edge responded with the page for
      // suspended services.
      if (!ports.storage.services.get(serviceId)?.suspended) throw error
    })
  }
}

/** Stops new requests to these instances; open ones continue. Resolves when the edge has applied it. */
export async function drainUpstreams(
  ports: DeployPorts,
  { id, serviceId }: DeployRef,
  signal: AbortSignal,
): Promise<void> {
  const changed = await ports.storage.upstreams.setState(serviceId, isUpstreamOf(id), 'out')
  if (changed) await ports.edge.apply(serviceId, signal)
}

/** For a cleanup: an unavailable edge does not delay it, and applies the change when it comes back. */
export async function drainUpstreamsBestEffort(
  ports: Pick<DeployPorts, 'edge' | 'storage'>,
  deploy: DeployRef,
  signal: AbortSignal,
  fromIndex = 0,
): Promise<void> {
  const isTheirs = isUpstreamOf(deploy.id, fromIndex)
  const changed = await ports.storage.upstreams.setState(deploy.serviceId, isTheirs, 'out')
  if (changed) await ports.edge.applyBestEffort(deploy.serviceId, signal)
}

/** Instances that ended or restarted get no requests until they pass their check again. */
export async function drainEnded(
  ports: DeployPorts,
  { id, serviceId }: DeployRef,
  instances: readonly InstanceState[],
  signal: AbortSignal,
  beforeIndex: number,
): Promise<void> {
  const runs = new Map(
    instances.filter(({ state }) => state === 'running').map(({ index, startedAt }) => [index, startedAt]),
  )
  const isEnded = ({ index, run }: { index: number; run: string | null }) => runs.get(index) !== run
  const isTheirs = isUpstreamOf(id)
  const isMatch = (row: UpstreamRow) => isTheirs(row) && row.index < beforeIndex && isEnded(row)
  const changed = await ports.storage.upstreams.setState(serviceId, isMatch, 'out')
  if (changed) await ports.edge.applyBestEffort(serviceId, signal)
}

/** Releases the slots of removed instances. Requests that are still open there are cut. */
export async function releaseSlots(
  ports: Pick<DeployPorts, 'edge' | 'storage'>,
  deploy: DeployRef,
  signal: AbortSignal,
  fromIndex = 0,
): Promise<void> {
  const removed = await ports.storage.upstreams.remove(deploy.serviceId, isUpstreamOf(deploy.id, fromIndex))
  if (removed) await ports.edge.applyBestEffort(deploy.serviceId, signal)
}

/** Sends requests to the former instances again, for example after a failed switch. */
export async function restoreUpstreams(
  ports: DeployPorts,
  { id, serviceId }: DeployRef,
  signal: AbortSignal,
): Promise<void> {
  const running = (await ports.instances.list({ deployId: id })).filter(({ state }) => state === 'running')
  const isRunning = ({ index, run }: { index: number; run: string | null }) =>
    running.some((instance) => instance.index === index && instance.startedAt === run)
  const isTheirs = isUpstreamOf(id)
  const changed = await ports.storage.upstreams.setState(
    serviceId,
    (row) => isTheirs(row) && isRunning(row),
    'ready',
  )
  if (changed) await ports.edge.applyBestEffort(serviceId, signal)
}

/**
 * Resolves when the instances from an index on had no open request twice in a row, at `until`, or when
 * `isCanceled` returns true. If the edge cannot be queried, the instances count as busy.
 */
export async function waitForOpenRequests(
  ports: DeployPorts,
  { id, serviceId, index }: DeployRef & { index?: number },
  until: number,
  signal: AbortSignal,
  isCanceled: () => boolean = () => false,
): Promise<void> {
  for (let silences = 0; silences < 2 && Date.now() < until && !isCanceled(); ) {
    const open = await ports.edge.openRequests(serviceId, id, index)
    silences = open === 0 ? silences + 1 : 0
    await sleep(Math.max(0, Math.min(pollIntervalMs, until - Date.now())), signal)
  }
}
