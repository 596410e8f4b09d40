// The end of instances: open connections may finish until the deadline, then SIGTERM, ten seconds, SIGKILL.
import { preDeployIndex, preDeployKind } from '../../docker/names.ts'
import { countConnections } from '../../docker/sockets.ts'
import { type Host, isoNow } from '../host.ts'
import { sleep, untilDone } from '../waiting.ts'
import { removeOldImages } from './retention.ts'

interface DrainInput {
  id: string
  serviceId: string
  port: number
  drainUntil: number
}

const stopGraceSeconds = 10
const lookAgainMs = 250

export function drainInstances(host: Host) {
  return async (input: DrainInput, signal: AbortSignal) => {
    await untilDone(host, input.id, signal, async () => {
      await awaitSilence(host, input, signal)
      await stopInstances(host, input.id)
      await removeOldImages(host, input.serviceId, input.id)
    })
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
export async function removeAbandoned(host: Host, serviceId: string): Promise<void> {
  const kept = new Set([...host.storage.actors.active('deploy', serviceId)].map(({ id }) => id))
  const preDeploy = await host.instances.list({ serviceId, kind: preDeployKind })
  const instances = [...preDeploy, ...(await host.instances.list({ serviceId }))]
  for (const deployId of new Set(instances.map((instance) => instance.deployId))) {
    if (kept.has(deployId)) continue
    await stopInstances(host, deployId)
    await host.storage.addresses.release(deployId)
  }
}

/**
 * Waits until nobody is connected twice in a row, or until the deadline. Where nobody can tell, the deadline
 * it is.
 */
async function awaitSilence(
  host: Host,
  { id, port, drainUntil }: DrainInput,
  signal: AbortSignal,
): Promise<void> {
  for (let silences = 0; silences < 2 && Date.now() < drainUntil; ) {
    silences = (await isSilent(host, id, port)) ? silences + 1 : 0
    await sleep(Math.max(0, Math.min(lookAgainMs, drainUntil - Date.now())), signal)
  }
}

async function isSilent(host: Host, deployId: string, port: number): Promise<boolean> {
  const instances = await host.instances.list({ deployId })
  const counts = await Promise.all(instances.map(({ pid }) => (pid ? countConnections(pid, port) : 0)))
  return counts.every((count) => count === 0)
}
