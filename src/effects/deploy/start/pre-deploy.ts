// The command that runs once in the new image, with the env of the deploy, before anything of it starts:
// migrations, most often. Mind: one that ran is never run again, also when the daemon was down as it ended.
import type { ServiceRow } from '../../../../storage/services.ts'
import { sleep } from '../../../async/sleep.ts'
import { explainExit } from '../../../docker/containers/exit-explanation.ts'
import { preDeployIndex, preDeployKind, preDeployName } from '../../../docker/engine/names.ts'
import { codeOf, Failure, messageOf } from '../../../errors.ts'
import { type Host, isoNow } from '../../host.ts'
import { takeAddress } from '../../isolation/isolation.ts'
import { retryWhileEngineAway } from '../../waiting.ts'
import { type DeployLog, isBegunAgain, openDeployLog } from '../log.ts'
import { instanceSpec, requireRelease, resolveEnvironment, type StartInput } from './instances.ts'

const lookAgainMs = 250

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
    await retryWhileEngineAway(host, signal, () => begin(host, input, service, name, signal))
    await retryWhileEngineAway(host, signal, () => copyOutput(host, name, log, signal))
    await requireSuccess(host, input, name, signal)
    // Its container stays until the next phase begins: removed before that is committed, it would run again
    // after a crash in between.
    return { at: isoNow() }
  }
}

async function begin(host: Host, input: StartInput, service: ServiceRow, name: string, signal: AbortSignal) {
  const found = await host.instances.inspect(name)
  if (found && found.state !== 'created') return
  await resolveEnvironment(host, input, service)
  const network = await host.ready(signal)
  const address = await takeAddress(host, input.id, preDeployIndex, network)
  const release = requireRelease(host, input.id)
  const place = { ...input, index: preDeployIndex, restart: 'no', address, network: network.name } as const
  const spec = instanceSpec(host, service, release, place)
  const command = release.settings.pre_deploy_command
  // Without the disk: the live version has it.
  await host.instances.ensure({ ...spec, name, command, volume: null, kind: preDeployKind }, signal)
}

/** Until the command has ended. An engine whose logs nobody can read is only asked whether it has. */
async function copyOutput(host: Host, name: string, log: DeployLog, signal: AbortSignal): Promise<void> {
  try {
    for await (const { stream, line } of host.instances.logs(name, { follow: true, signal })) {
      log.write(stream, line)
    }
  } catch (error) {
    if (codeOf(error) !== 'docker_error') throw error
    log.say(`its output cannot be read: ${messageOf(error)}`)
    while ((await host.instances.inspect(name))?.state === 'running') await sleep(lookAgainMs, signal)
  }
  signal.throwIfAborted()
}

async function requireSuccess(host: Host, { id }: StartInput, name: string, signal: AbortSignal) {
  const exit = await retryWhileEngineAway(host, signal, () => host.instances.inspectExit(name, signal))
  if (exit?.exitCode === 0) return
  const command = requireRelease(host, id).settings.pre_deploy_command
  const words = exit ? explainExit(exit, { command }) : 'disappeared while it ran'
  throw new Failure('pre_deploy_failed', `the pre-deploy command ${words}`)
}
