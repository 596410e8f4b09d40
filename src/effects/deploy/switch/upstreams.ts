// Instances as upstreams of the edge: they get requests only after a request through the edge has reached
// them, and are removed without cutting open requests. Does nothing for services without a public address.
import type { ServiceRow } from '../../../../storage/services.ts'
import type { UpstreamRow } from '../../../../storage/upstreams.ts'
import { sleep } from '../../../async/sleep.ts'
import type { InstanceState } from '../../../docker/containers/instances.ts'
import { defaultHost, isPublicType } from '../../../domain/domains.ts'
import { Failure } from '../../../errors.ts'
import { isUpstreamOf } from '../../edge/haproxy-edge.ts'
import type { DeployPhase, DeployRef } from '../phase.ts'
import type { DeployPorts } from '../ports.ts'

const pollIntervalMs = 250

export function isBehindEdge(ports: DeployPorts, service: Pick<ServiceRow, 'type'> | null): boolean {
  return service !== null && !ports.edge.isOff && isPublicType(service.type)
}

/**
 * First one verification request through the edge, then client requests. Resolves with the highest status
 * that they got, if any. Throws `not_reached`.
 */
export async function admit(
  phase: DeployPhase,
  instances: readonly InstanceState[],
  withinMs?: number,
): Promise<number | null> {
  const { ports, id, serviceId, signal } = phase
  const pending = instances.filter((instance) => !isAdmitted(phase, instance))
  if (pending.length === 0) return null
  const slots = await allocateSlots(phase, pending)
  await ports.edge.apply(serviceId, signal, withinMs)
  const status = await verify(phase, slots)
  signal.throwIfAborted()
  const admitted = new Set(pending.map(({ index }) => index))
  const isMatch = (row: UpstreamRow) => row.deploy_id === id && admitted.has(row.index)
  await ports.storage.upstreams.setState(serviceId, isMatch, 'ready')
  await ports.edge.apply(serviceId, signal, withinMs)
  return status
}

export function isAdmitted({ ports, id, serviceId }: DeployPhase, instance: InstanceState): boolean {
  const { index, startedAt } = instance
  const rows = ports.storage.upstreams.list(serviceId).filter(isUpstreamOf(id))
  return rows.some((row) => row.index === index && row.run === startedAt && row.state === 'ready')
}

async function allocateSlots(phase: DeployPhase, instances: InstanceState[]): Promise<number[]> {
  const { id, serviceId } = phase
  const { actors, upstreams } = phase.ports.storage
  await upstreams.allocatePool(serviceId)
  const port = actors.record(id)?.port as number
  const { protocol = 'http' } = phase.release.settings
  const slots: number[] = []
  for (const { index, address, startedAt } of instances) {
    if (!address) throw new Failure('instance_failed', `instance ${index + 1} no longer has an address`)
    const about = { deploy_id: id, index, address, port, protocol, run: startedAt }
    slots.push((await upstreams.put(serviceId, { ...about, state: 'verifying' })).slot)
  }
  return slots
}

/** A suspended service gets no requests through the edge, so there is nothing to verify. */
async function verify({ ports, serviceId, signal, release }: DeployPhase, slots: number[]) {
  const { services, upstreams } = ports.storage
  const service = services.get(serviceId)
  const pool = upstreams.poolOf(serviceId)
  if (!service || pool === null) throw new Failure('not_found', 'the service is being deleted')
  if (service.suspended) return null
  const host = defaultHost(service.name, ports.settings.baseDomain)
  const healthPath = release.settings.health_check_path
  let highest: number | null = null
  for (const slot of slots) {
    const answer = ports.edge.verify({ pool, slot, host, healthPath }, signal)
    const status = await answer.catch((error: unknown) => {
      // If the service was suspended during the check, the edge responded with the page for
      // suspended services.
      if (!services.get(serviceId)?.suspended) throw error
      return null
    })
    if (status !== null) highest = Math.max(status, highest ?? 0)
  }
  return highest
}

/**
 * Stops new requests to the instances of the former deploy; open ones continue. Resolves when the edge has
 * applied all states of the service: after a crash they may be committed, but not applied.
 */
export async function drainUpstreams(
  { ports, serviceId, signal }: DeployPhase,
  formerDeployId: string | null,
): Promise<void> {
  if (formerDeployId) await ports.storage.upstreams.setState(serviceId, isUpstreamOf(formerDeployId), 'out')
  await ports.edge.apply(serviceId, signal)
}

/** For a cleanup: an unavailable edge does not delay it, and applies the change when it comes back. */
export async function drainUpstreamsBestEffort(
  ports: Pick<DeployPorts, 'edge' | 'storage'>,
  deploy: DeployRef,
  signal: AbortSignal,
  fromIndex = 0,
): Promise<void> {
  const { upstreams } = ports.storage
  const isTheirs = isUpstreamOf(deploy.id, fromIndex)
  await upstreams.setState(deploy.serviceId, isTheirs, 'out')
  const hasSome = upstreams.list(deploy.serviceId).some(isTheirs)
  if (hasSome) await ports.edge.applyBestEffort(deploy.serviceId, signal)
}

/** Instances that ended or restarted get no requests until they pass their check again. */
export async function drainEnded(
  { ports, id, serviceId, signal }: DeployPhase,
  instances: readonly InstanceState[],
  beforeIndex: number,
): Promise<void> {
  const isRunning = runningOf(instances)
  const isTheirs = isUpstreamOf(id)
  const isMatch = (row: UpstreamRow) => isTheirs(row) && row.index < beforeIndex && !isRunning(row)
  const changed = await ports.storage.upstreams.setState(serviceId, isMatch, 'out')
  if (changed) await ports.edge.applyBestEffort(serviceId, signal)
}

/** Whether the instance of a row is still in the run that the row is for. */
function runningOf(instances: readonly InstanceState[]) {
  const running = instances.filter(({ state }) => state === 'running')
  const runs = new Map(running.map(({ index, startedAt }) => [index, startedAt]))
  return ({ index, run }: UpstreamRow) => runs.get(index) === run
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
export async function restoreUpstreams({ ports, serviceId, signal }: DeployPhase, deployId: string) {
  const isRunning = runningOf(await ports.instances.list({ deployId }))
  const isTheirs = isUpstreamOf(deployId)
  const isMatch = (row: UpstreamRow) => isTheirs(row) && isRunning(row)
  const changed = await ports.storage.upstreams.setState(serviceId, isMatch, 'ready')
  if (changed) await ports.edge.applyBestEffort(serviceId, signal)
}

/**
 * Resolves when the instances from an index on had no open request twice in a row, at `until`, or when
 * `isCanceled` returns true. If the edge cannot be queried, the instances count as busy.
 */
export async function waitForOpenRequests(
  { ports, id, serviceId, signal }: DeployPhase,
  index: number | undefined,
  until: number,
  isCanceled: () => boolean,
): Promise<void> {
  for (let silences = 0; silences < 2 && Date.now() < until && !isCanceled(); ) {
    const open = await ports.edge.openRequests(serviceId, id, index)
    silences = open === 0 ? silences + 1 : 0
    await sleep(Math.max(0, Math.min(pollIntervalMs, until - Date.now())), signal)
  }
}
