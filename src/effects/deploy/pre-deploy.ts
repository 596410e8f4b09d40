// The command that runs once in the new image, with the env of the deploy, before anything of it starts:
// migrations, most often. Mind: one that ran is never run again, also when the daemon was down as it ended.
import type { ServiceRow } from '../../../storage/services.ts'
import { explainExit } from '../../docker/exit.ts'
import { preDeployKind, preDeployName } from '../../docker/names.ts'
import { Failure } from '../../errors.ts'
import { type Host, isoNow } from '../host.ts'
import { whileEngineReturns } from '../waiting.ts'
import { instanceSpec, requireRelease, resolveEnvironment, type StartInput } from './instances.ts'
import { type DeployLog, isBegunAgain, openDeployLog } from './log.ts'

/** Its address is beside those of the instances, of which there are at most 50. */
const addressIndex = 50
const stopGraceSeconds = 10

export function runPreDeploy(host: Host) {
  return async (input: StartInput, signal: AbortSignal) => {
    const log = openDeployLog(host, input.id)
    const service = host.storage.services.get(input.serviceId)!
    const name = preDeployName(host.owner, service.name, input.id)
    log.say(
      isBegunAgain(host, input.id)
        ? 'the daemon was restarted: the pre-deploy command from its first line'
        : 'running the pre-deploy command in the new image',
    )
    await whileEngineReturns(host, signal, () => begin(host, input, service, name, signal))
    await whileEngineReturns(host, signal, () => copyOutput(host, name, log, signal))
    await requireSuccess(host, input, name, signal)
    await removePreDeploy(host, input.id)
    await host.storage.addresses.release(input.id, addressIndex)
    return { at: isoNow() }
  }
}

/** Stops and removes what runs before a deploy. Nothing there is fine. */
export async function removePreDeploy(host: Pick<Host, 'instances'>, deployId: string): Promise<void> {
  for (const { name } of await host.instances.list({ deployId, kind: preDeployKind })) {
    await host.instances.stop(name, stopGraceSeconds)
    await host.instances.remove(name)
  }
}

async function begin(host: Host, input: StartInput, service: ServiceRow, name: string, signal: AbortSignal) {
  const found = await host.instances.inspect(name)
  if (found && found.state !== 'created') return
  await resolveEnvironment(host, input, service)
  const network = await host.ready(signal)
  const address = await host.storage.addresses.take(input.id, addressIndex, network.range)
  const release = requireRelease(host, input.id)
  const place = { ...input, index: addressIndex, restart: 'no', address, network: network.name } as const
  const spec = instanceSpec(host, service, release, place)
  const command = release.settings.pre_deploy_command
  // Without the disk: the live version has it.
  await host.instances.ensure({ ...spec, name, command, volume: null, kind: preDeployKind }, signal)
}

async function copyOutput(host: Host, name: string, log: DeployLog, signal: AbortSignal): Promise<void> {
  for await (const { stream, line } of host.instances.logs(name, { follow: true, signal })) {
    log.write(stream, line)
  }
  signal.throwIfAborted()
}

async function requireSuccess(host: Host, { id }: StartInput, name: string, signal: AbortSignal) {
  const exit = await whileEngineReturns(host, signal, () => host.instances.inspectExit(name, signal))
  if (exit?.exitCode === 0) return
  const command = requireRelease(host, id).settings.pre_deploy_command
  const words = exit ? explainExit(exit, { command }) : 'disappeared while it ran'
  throw new Failure('pre_deploy_failed', `the pre-deploy command ${words}`)
}
