// The command, such as a migration, that runs once in the new image before its instances start, with the
// env of the deploy. A command that has ended is not run again, even if the daemon was down when it ended.
import type { Release } from '../../../../storage/releases.ts'
import { sleep } from '../../../async/sleep.ts'
import { preDeployIndex, preDeployKind, preDeployName } from '../../../docker/engine/names.ts'
import { codeOf, Failure, messageOf } from '../../../errors.ts'
import { describeExit } from '../../instances/exit.ts'
import { allocateAddress } from '../../isolation/isolation.ts'
import type { DeployPhase } from '../phase.ts'
import { instanceSpec, resolveEnvironment, type StartInput } from './instances.ts'

const pollIntervalMs = 250

/** What the user set, or what the source says. Null if nothing runs before the instances start. */
export function findPreDeployCommand({ settings, recipe }: Release): string | null {
  return settings.pre_deploy_command ?? recipe?.pre_deploy_command ?? null
}

export async function runPreDeploy(phase: DeployPhase, input: StartInput) {
  const name = preDeployName(phase.ports.owner, phase.service.name, phase.id)
  phase.log.info(
    phase.isRepeated
      ? 'the daemon was restarted: showing the output of the pre-deploy command from the beginning'
      : 'running the pre-deploy command in the new image',
  )
  await phase.withEngine(() => begin(phase, input, name))
  await phase.withEngine(() => copyOutput(phase, name))
  await requireSuccess(phase, name)
  // The container stays until the next phase starts. If it were removed before the commit, a crash in
  // between would run the command again.
}

async function begin(phase: DeployPhase, input: StartInput, name: string): Promise<void> {
  const { ports, id, signal } = phase
  const instance = await ports.instances.inspect(name)
  if (instance && instance.state !== 'created') return
  await resolveEnvironment(phase, input)
  const network = await ports.engineReady(signal)
  const address = await allocateAddress(ports, id, preDeployIndex, network)
  const { release } = phase
  const place = { id, image: input.image, index: preDeployIndex, address, network: network.name }
  const spec = instanceSpec(ports, phase.service, release, { ...place, restart: 'no' })
  const command = findPreDeployCommand(release)
  // Without the disk, because the live version uses it.
  await ports.instances.ensure({ ...spec, name, command, volume: null, kind: preDeployKind }, signal)
}

/** Returns when the command has ended, also if the engine cannot return logs. */
async function copyOutput({ ports, log, signal }: DeployPhase, name: string): Promise<void> {
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

async function requireSuccess(phase: DeployPhase, name: string): Promise<void> {
  const { instances } = phase.ports
  const exit = await phase.withEngine(() => instances.inspectExit(name, phase.signal))
  if (exit?.exitCode === 0) return
  const command = findPreDeployCommand(phase.release)
  const text = exit ? await describeExit(instances, exit, { command }) : 'disappeared while it ran'
  throw new Failure('pre_deploy_failed', `the pre-deploy command ${text}`)
}
