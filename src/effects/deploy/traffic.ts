// Switching a service to its new deploy, and back. Until the edge has its place here, what is switched is
// which instances Docker brings back by itself: a reboot must never revive an old version.
import { Failure } from '../../errors.ts'
import { type Host, isoNow } from '../host.ts'
import { whileEngineReturns } from '../waiting.ts'
import { openDeployLog } from './log.ts'
import { startAgain } from './second-start.ts'

export function switchTraffic(host: Host) {
  return async (
    input: { id: string; serviceId: string; formerDeployId: string | null },
    signal: AbortSignal,
  ) => {
    const { id, formerDeployId } = input
    await whileEngineReturns(host, signal, () => putInCharge(host, id, formerDeployId))
    const log = openDeployLog(host, id)
    const instances = await whileEngineReturns(host, signal, () => host.instances.list({ deployId: id }))
    for (const instance of instances.filter(({ state }) => state !== 'running')) {
      if (await startAgain(host, instance, log, signal)) continue
      throw new Failure('instance_failed', `the instance ${instance.name} ended before it could serve`)
    }
    if (instances.length === 0) throw new Failure('instance_failed', 'no instance is left that could serve')
    log.say('switched to the new version')
    return { at: isoNow() }
  }
}

/** Docker restarts the instances of `deployId` from now on, and no longer those of the other. */
export async function putInCharge(
  host: Host,
  deployId: string | null,
  otherId: string | null,
): Promise<void> {
  if (deployId) await setRestart(host, deployId, 'unless-stopped')
  if (otherId) await setRestart(host, otherId, 'no')
}

/** An instance that goes away meanwhile (scaled down, suspended) needs no policy any more. */
async function setRestart(host: Host, deployId: string, policy: 'no' | 'unless-stopped'): Promise<void> {
  const differing = (await host.instances.list({ deployId })).filter(({ restart }) => restart !== policy)
  for (const { name } of differing) {
    try {
      await host.instances.setRestart(name, policy)
    } catch (error) {
      if (await host.instances.inspect(name)) throw error
    }
  }
}
