// Starts the container of a run. It is like an instance of the live deploy, except for its command, its name
// and its end. An existing container is the run itself, active or ended, and is never created again.
import type { RunStart } from '../../../machines/job-run/job-run.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import type { InstanceSpec, InstanceState } from '../../docker/containers/instances.ts'
import { jobKind, jobName } from '../../docker/engine/names.ts'
import { inspectImage } from '../../docker/images/images.ts'
import { Failure } from '../../errors.ts'
import { requireRelease } from '../deploy/release.ts'
import { withDefaults } from '../deploy/start/environment.ts'
import { ensureDisk, instanceSpec } from '../deploy/start/instances.ts'
import { isoNow } from '../iso-now.ts'
import { allocateAddress } from '../isolation/isolation.ts'
import { retryWhileEngineUnavailable } from '../waiting.ts'
import { cancelWithService } from './cancel-with-service.ts'
import { logOnce } from './log-once.ts'
import type { JobRunPorts } from './ports.ts'

export function startRun(ports: JobRunPorts) {
  return (input: RunStart, outer: AbortSignal) =>
    cancelWithService(ports, input.serviceId, outer, async (signal) => {
      ports.jobSlots.reserve(input)
      const { startedAt } = await retryWhileEngineUnavailable(ports, signal, () =>
        begin(ports, input, signal),
      )
      return { at: isoNow(), startedAt: startedAt ?? isoNow() }
    })
}

async function begin(ports: JobRunPorts, input: RunStart, signal: AbortSignal): Promise<InstanceState> {
  const service = ports.storage.services.get(input.serviceId)!
  const name = jobName(ports.owner, service.name, input.id)
  const [found, image] = await Promise.all([
    ports.instances.inspect(name),
    inspectImage(ports.engine, input.image),
  ])
  if (found && found.state !== 'created') return found
  if (!image) {
    throw new Failure('image_gone', `the image ${input.image} no longer exists: it was removed from Docker`)
  }
  const spec = await buildSpec(ports, input, service, signal)
  if (!found) await logOnce(ports, input.id, announcement(input), { mark: 'running' })
  await ensureDisk(ports, service, spec)
  return ports.instances.ensure(spec, signal)
}

const shownChars = 200

/** On one line. The record has the full command. */
function announcement({ command }: RunStart): string {
  if (command === null) return "running the image's own command"
  const lines = command.split('\n').map((text) => text.trim())
  const line = lines.filter((text) => text !== '').join(' ↵ ')
  return `running ${line.length > shownChars ? `${line.slice(0, shownChars)}…` : line}`
}

async function buildSpec(
  ports: JobRunPorts,
  { id, serviceId, deployId, image, command }: RunStart,
  service: ServiceRow,
  signal: AbortSignal,
): Promise<InstanceSpec> {
  const network = await ports.engineReady(signal)
  const address = await allocateAddress(ports, id, 0, network)
  const release = requireRelease(ports, deployId)
  const container = { id, image, index: 0, restart: 'no', address, network: network.name } as const
  const spec = instanceSpec(ports, service, release, container)
  const env = withDefaults(spec.env, { BERTH_JOB_ID: id })
  return { ...spec, name: jobName(ports.owner, service.name, id), serviceId, command, env, kind: jobKind }
}
