// The command, such as a migration, that runs once in the new image before its instances start, with the
// env of the deploy. A command that has ended is not run again, even if the daemon was down when it ended.
import type { ServiceRow } from '../../../../storage/services.ts'
import { sleep } from '../../../async/sleep.ts'
import { preDeployIndex, preDeployKind, preDeployName } from '../../../docker/engine/names.ts'
import { codeOf, Failure, messageOf } from '../../../errors.ts'
import { describeExit } from '../../instances/exit.ts'
import { isoNow } from '../../iso-now.ts'
import { allocateAddress } from '../../isolation/isolation.ts'
import { retryWhileEngineUnavailable } from '../../waiting.ts'
import { type DeployLog, isRetry, openDeployLog } from '../log.ts'
import type { DeployPorts } from '../ports.ts'
import { requireRelease } from '../release.ts'
import { instanceSpec, resolveEnvironment, type StartInput } from './instances.ts'

const pollIntervalMs = 250

export function runPreDeploy(ports: DeployPorts) {
  return async (input: StartInput, signal: AbortSignal) => {
    const log = openDeployLog(ports, input.id)
    const service = ports.storage.services.get(input.serviceId)!
    const name = preDeployName(ports.owner, service.name, input.id)
    log.info(
      isRetry(ports, input.id)
        ? 'the daemon was restarted: showing the output of the pre-deploy command from the beginning'
        : 'running the pre-deploy command in the new image',
    )
    await retryWhileEngineUnavailable(ports, signal, () => begin(ports, input, service, name, signal))
    await retryWhileEngineUnavailable(ports, signal, () => copyOutput(ports, name, log, signal))
    await requireSuccess(ports, input, name, signal)
    // The container stays until the next phase starts. If it were removed before the commit, a crash in
    // between would run the command again.
    return { at: isoNow() }
  }
}

async function begin(
  ports: DeployPorts,
  input: StartInput,
  service: ServiceRow,
  name: string,
  signal: AbortSignal,
) {
  const instance = await ports.instances.inspect(name)
  if (instance && instance.state !== 'created') return
  await resolveEnvironment(ports, input, service)
  const network = await ports.engineReady(signal)
  const address = await allocateAddress(ports, input.id, preDeployIndex, network)
  const release = requireRelease(ports, input.id)
  const container = {
    ...input,
    index: preDeployIndex,
    restart: 'no',
    address,
    network: network.name,
  } as const
  const spec = instanceSpec(ports, service, release, container)
  const command = release.settings.pre_deploy_command
  // Without the disk, because the live version uses it.
  await ports.instances.ensure({ ...spec, name, command, volume: null, kind: preDeployKind }, signal)
}

/** Returns when the command has ended, also if the engine cannot return logs. */
async function copyOutput(
  ports: DeployPorts,
  name: string,
  log: DeployLog,
  signal: AbortSignal,
): Promise<void> {
  try {
    for await (const { stream, line } of ports.instances.logs(name, { follow: true, signal })) {
      log.write(stream, line)
    }
  } catch (error) {
    if (codeOf(error) !== 'docker_error') throw error
    log.info(`its output cannot be read: ${messageOf(error)}`)
    while ((await ports.instances.inspect(name))?.state === 'running') await sleep(pollIntervalMs, signal)
  }
  signal.throwIfAborted()
}

async function requireSuccess(ports: DeployPorts, { id }: StartInput, name: string, signal: AbortSignal) {
  const exit = await retryWhileEngineUnavailable(ports, signal, () =>
    ports.instances.inspectExit(name, signal),
  )
  if (exit?.exitCode === 0) return
  const command = requireRelease(ports, id).settings.pre_deploy_command
  const text = exit ? await describeExit(ports.instances, exit, { command }) : 'disappeared while it ran'
  throw new Failure('pre_deploy_failed', `the pre-deploy command ${text}`)
}
