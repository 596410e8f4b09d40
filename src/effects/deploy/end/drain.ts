// Stops instances: open connections may finish until the deadline, then SIGTERM, ten seconds, SIGKILL.
import { sleep } from '../../../async/sleep.ts'
import { countConnections } from '../../../docker/containers/sockets.ts'
import { preDeployIndex, preDeployKind } from '../../../docker/engine/names.ts'
import { retryUntilCleanedUp } from '../../waiting.ts'
import type { DeployPhase, DeployRef } from '../phase.ts'
import type { DeployPorts } from '../ports.ts'
import {
  drainUpstreamsBestEffort,
  isBehindEdge,
  releaseSlots,
  waitForOpenRequests,
} from '../switch/upstreams.ts'
import { removeOldImages } from './retention.ts'

interface DrainInput {
  port: number
  drainUntil: number
  /** Of the instances that drain; 0 by default. */
  fromIndex?: number
}

const stopGraceSeconds = 10
const pollIntervalMs = 250

export async function drainInstances(phase: DeployPhase, input: DrainInput) {
  const { ports, id, serviceId, signal } = phase
  await drainUpstreamsBestEffort(ports, phase, signal)
  await retryUntilCleanedUp(ports, id, signal, async () => {
    await waitUntilDrained(phase, input)
    await stopInstances(ports, id)
    await removeOldImages(ports, serviceId, id)
  })
  await releaseSlots(ports, phase, signal)
  await ports.storage.addresses.release(id)
}

/** Also removes them, and with `fromIndex` 0 the pre-deploy container. Idempotent. */
export async function stopInstances(
  ports: Pick<DeployPorts, 'instances' | 'logCollector'>,
  deployId: string,
  fromIndex = 0,
): Promise<void> {
  const preDeploy = fromIndex === 0 ? await ports.instances.list({ deployId, kind: preDeployKind }) : []
  const instances = [...preDeploy, ...(await ports.instances.list({ deployId }))]
  const drained = instances.filter(({ index }) => index >= fromIndex)
  await Promise.all(
    drained.map(async ({ name }) => {
      await ports.instances.stop(name, stopGraceSeconds)
      await ports.logCollector.drained(name)
      await ports.instances.remove(name)
    }),
  )
}

/** Removes the pre-deploy container of a deploy and its address. A missing one is fine. */
export async function removePreDeploy(ports: DeployPorts, deployId: string): Promise<void> {
  for (const { name } of await ports.instances.list({ deployId, kind: preDeployKind })) {
    await ports.instances.remove(name)
  }
  await ports.storage.addresses.release(deployId, preDeployIndex)
}

/** Stops the instances of a service's deploys that no active actor manages, such as those of a parked one. */
export async function removeAbandoned(
  ports: Pick<DeployPorts, 'edge' | 'instances' | 'logCollector' | 'storage'>,
  serviceId: string,
  signal: AbortSignal,
): Promise<void> {
  const active = new Set([...ports.storage.actors.active('deploy', serviceId)].map(({ id }) => id))
  const preDeploy = await ports.instances.list({ serviceId, kind: preDeployKind })
  const instances = [...preDeploy, ...(await ports.instances.list({ serviceId }))]
  for (const deployId of new Set(instances.map((instance) => instance.deployId))) {
    if (active.has(deployId)) continue
    await removeVersion(ports, { id: deployId, serviceId }, signal)
  }
}

/** Stops all instances of a deploy immediately. They get no more requests. */
export async function removeVersion(
  ports: Pick<DeployPorts, 'edge' | 'instances' | 'logCollector' | 'storage'>,
  deploy: DeployRef,
  signal: AbortSignal,
): Promise<void> {
  await drainUpstreamsBestEffort(ports, deploy, signal)
  await stopInstances(ports, deploy.id)
  await releaseSlots(ports, deploy, signal)
  await ports.storage.addresses.release(deploy.id)
}

/** Until no request and no connection is open, twice in a row, or the deadline; unknown counts as open. */
export async function waitUntilDrained(
  phase: DeployPhase,
  input: DrainInput,
  isCanceled: () => boolean = () => false,
): Promise<void> {
  const { ports, signal } = phase
  const { drainUntil, fromIndex } = input
  const served = isBehindEdge(ports, ports.storage.services.get(phase.serviceId))
  if (served) await waitForOpenRequests(phase, fromIndex, drainUntil, isCanceled)
  // The edge keeps idle connections open. Its own open requests are already counted.
  const except = served ? (await ports.engineReady(signal)).gateway : null
  for (let idleChecks = 0; idleChecks < 2 && Date.now() < drainUntil && !isCanceled(); ) {
    idleChecks = (await hasNoConnections(phase, input, except)) ? idleChecks + 1 : 0
    await sleep(Math.max(0, Math.min(pollIntervalMs, drainUntil - Date.now())), signal)
  }
}

/** Behind the edge, an unknown count is treated as zero: the edge counts the requests itself. */
async function hasNoConnections(
  phase: DeployPhase,
  { port, fromIndex = 0 }: DrainInput,
  except: string | null,
) {
  const drained = (await phase.listInstances()).filter(({ index }) => index >= fromIndex)
  const counts = await Promise.all(drained.map(({ pid }) => (pid ? countConnections(pid, port, except) : 0)))
  return counts.every((count) => count === 0 || (count === null && except !== null))
}
