// The end of instances: open connections may finish until the deadline, then SIGTERM, ten seconds, SIGKILL.
import { sleep } from '../../../async/sleep.ts'
import { countConnections } from '../../../docker/containers/sockets.ts'
import { preDeployIndex, preDeployKind } from '../../../docker/engine/names.ts'
import { type Host, isoNow } from '../../host.ts'
import { retryUntilCleanedUp } from '../../waiting.ts'
import { forget, isServed, takeOut, untilFinished } from '../switch/upstreams.ts'
import { removeOldImages } from './retention.ts'

export interface DrainInput {
  id: string
  serviceId: string
  port: number
  drainUntil: number
  /** Only instances from this one on. */
  index?: number
}

const stopGraceSeconds = 10
const lookAgainMs = 250

export function drainInstances(host: Host) {
  return async (input: DrainInput, signal: AbortSignal) => {
    await takeOut(host, input, signal)
    await retryUntilCleanedUp(host, input.id, signal, async () => {
      await awaitSilence(host, input, signal)
      await stopInstances(host, input.id)
      await removeOldImages(host, input.serviceId, input.id)
    })
    await forget(host, input, signal)
    await host.storage.addresses.release(input.id)
    return { at: isoNow() }
  }
}

/**
 * Stops and removes all instances of a deploy, with what ran before them, or those from `fromIndex` on. Doing
 * it again changes nothing.
 */
export async function stopInstances(host: Host, deployId: string, fromIndex = 0): Promise<void> {
  const preDeploy = fromIndex === 0 ? await host.instances.list({ deployId, kind: preDeployKind }) : []
  const instances = [...preDeploy, ...(await host.instances.list({ deployId }))]
  const leaving = instances.filter(({ index }) => index >= fromIndex)
  await Promise.all(
    leaving.map(async ({ name }) => {
      await host.instances.stop(name, stopGraceSeconds)
      await host.logCollector.drained(name)
      await host.instances.remove(name)
    }),
  )
}

/** Removes what ran before a deploy, and its address. Nothing there is fine. */
export async function removePreDeploy(host: Host, deployId: string): Promise<void> {
  for (const { name } of await host.instances.list({ deployId, kind: preDeployKind })) {
    await host.instances.remove(name)
  }
  await host.storage.addresses.release(deployId, preDeployIndex)
}

/** Stops the instances of deploys of a service that no actor keeps any more: those of a parked one. */
export async function removeAbandoned(host: Host, serviceId: string, signal: AbortSignal): Promise<void> {
  const kept = new Set([...host.storage.actors.active('deploy', serviceId)].map(({ id }) => id))
  const preDeploy = await host.instances.list({ serviceId, kind: preDeployKind })
  const instances = [...preDeploy, ...(await host.instances.list({ serviceId }))]
  for (const deployId of new Set(instances.map((instance) => instance.deployId))) {
    if (kept.has(deployId)) continue
    await removeVersion(host, { id: deployId, serviceId }, signal)
  }
}

/** Stops all instances of a deploy at once. They get no more requests. */
export async function removeVersion(
  host: Host,
  whose: { id: string; serviceId: string },
  signal: AbortSignal,
): Promise<void> {
  await takeOut(host, whose, signal)
  await stopInstances(host, whose.id)
  await forget(host, whose, signal)
  await host.storage.addresses.release(whose.id)
}

/**
 * Waits until no request is open and nobody is connected, twice in a row, or until the deadline. Where nobody
 * can tell, the deadline it is.
 */
export async function awaitSilence(
  host: Host,
  input: DrainInput,
  signal: AbortSignal,
  isOver: () => boolean = () => false,
): Promise<void> {
  const served = isServed(host, host.storage.services.get(input.serviceId))
  if (served) await untilFinished(host, input, input.drainUntil, signal, isOver)
  // The edge keeps connections open that nobody uses: of its own it has told already.
  const except = served ? (await host.ready(signal)).gateway : null
  const { drainUntil } = input
  for (let silences = 0; silences < 2 && Date.now() < drainUntil && !isOver(); ) {
    silences = (await isSilent(host, input, except)) ? silences + 1 : 0
    await sleep(Math.max(0, Math.min(lookAgainMs, drainUntil - Date.now())), signal)
  }
}

/** For what the edge serves it is enough that no other connection is known. */
async function isSilent(
  host: Host,
  { id, port, index: fromIndex = 0 }: DrainInput,
  except: string | null,
): Promise<boolean> {
  const instances = await host.instances.list({ deployId: id })
  const leaving = instances.filter(({ index }) => index >= fromIndex)
  const counts = await Promise.all(leaving.map(({ pid }) => (pid ? countConnections(pid, port, except) : 0)))
  return counts.every((count) => count === 0 || (count === null && except !== null))
}
