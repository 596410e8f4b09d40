// The instances of a deploy: what each one must be, according to the release, and how it is created. The
// release is frozen. Only the number of instances, and whether they run, come from the current service row.
import type { DeploySource } from '../../../../machines/deploy/deploy-context.ts'
import type { EnvVar } from '../../../../storage/env.ts'
import type { Release } from '../../../../storage/releases.ts'
import type { ServiceRow } from '../../../../storage/services.ts'
import { giveEmptyDisk } from '../../../docker/containers/disk-owner.ts'
import type { InstanceSpec } from '../../../docker/containers/spec.ts'
import { ensureVolume } from '../../../docker/containers/volumes.ts'
import { containerName, diskKind, diskName, labels } from '../../../docker/engine/names.ts'
import { type Image, inspectImage } from '../../../docker/images/images.ts'
import { urlOf } from '../../../domain/domains.ts'
import type { ServiceProperty } from '../../../domain/env-references.ts'
import { listens, wantedInstances } from '../../../domain/service-types.ts'
import { Failure } from '../../../errors.ts'
import { count } from '../../../quantities.ts'
import { lookUpDatastore } from '../../datastore/access.ts'
import type { DefaultLimits } from '../../engine/ports.ts'
import { allocateAddress } from '../../isolation/isolation.ts'
import { pullImage } from '../build/pull.ts'
import { removePreDeploy, stopInstances } from '../end/drain.ts'
import type { DeployPhase } from '../phase.ts'
import type { DeployPorts } from '../ports.ts'
import { retryWhileDiskInUse, withDisk } from './disk-claim.ts'
import {
  type ChosenPort,
  choosePort,
  type Lookup,
  resolveReferences,
  unusedPort,
  withDefaults,
  withPort,
} from './environment.ts'
import { findWarnings } from './warnings.ts'

const maxPulls = 3

export interface StartInput {
  image: string
  commitSha: string | null
}

export async function startInstances(phase: DeployPhase, input: StartInput) {
  const { ports, id, log, service } = phase
  await phase.withEngine(() => removePreDeploy(ports, id))
  const chosen = await phase.withEngine(() => resolveEnvironment(phase, input))
  const count = wantedInstances(service)
  const warnings = count === 0 ? [] : await phase.withEngine(() => findWarnings(phase, input.image))
  // After a restart there may be more instances than wanted now, and some may have stopped.
  if (phase.isRepeated) await phase.withEngine(() => stopInstances(ports, id, count))
  // A version of a suspended service is checked too: otherwise the next start of the service would run an
  // unchecked version.
  if (service.suspended) log.info('the service is suspended: this version is checked, then stopped')
  for (let index = 0; index < count; index++) {
    const start = () => ensureInstance(phase, service, { image: input.image, index, restart: 'no' })
    const state = await retryWhileDiskInUse(phase, () => phase.withEngine(start))
    const place = listens(service) ? `${state.address}:${chosen.port}` : state.address
    const brief = `instance ${index + 1} of ${count} at ${place}`
    log.info(`started ${brief}`, { brief })
  }
  if (count === 0) log.info(`nothing is started now: it runs on its schedule, ${scheduleOf(service)}`)
  return { ...chosen, warnings }
}

function scheduleOf({ schedule, timezone }: ServiceRow): string {
  return `${schedule} ${timezone ?? 'UTC'}`
}

/** Resolves the port and the env once. A repeated start uses the stored values. */
export async function resolveEnvironment(phase: DeployPhase, input: StartInput): Promise<ChosenPort> {
  const { ports, id, service, release } = phase
  const { settings } = release
  const image = await ensureImage(phase, input.image)
  const lookup: Lookup = (kind, name, property) => resolveProperty(ports, kind, name, property)
  const vars = release.resolved ?? resolveReferences(release.env, lookup)
  // Once resolved, the env includes Berth's PORT.
  const hasPort = release.env.some(({ key, value }) => key === 'PORT' && value.trim() !== '')
  const chosen = choosePort(settings, hasPort ? vars : [], image.exposedPorts)
  if (release.resolved) return chosen
  const { port } = chosen
  await logEnvironmentWarnings(phase, vars)
  const resolved = withDefaults(withPort(settings, vars, port), {
    PORT: String(port),
    BERTH_SERVICE_ID: service.id,
    BERTH_SERVICE_NAME: service.name,
    BERTH_DEPLOY_ID: id,
    BERTH_GIT_COMMIT: input.commitSha ?? '',
    BERTH_GIT_BRANCH: sourceOf(phase)?.branch ?? '',
    BERTH_URL: urlOf(service, ports.publication) ?? '',
  })
  await ports.storage.releases.resolve(id, resolved)
  return chosen
}

/**
 * Docker gives a pulled image its name although the removal of its last other name is under way, and then
 * removes the new one too: another service may have had the same image. It is pulled again.
 */
async function ensureImage(phase: DeployPhase, name: string): Promise<Image> {
  const source = sourceOf(phase)
  for (let pulls = 0; ; pulls++) {
    const image = await inspectImage(phase.ports.engine, name)
    if (image) return image
    if (source?.kind !== 'image' || pulls === maxPulls) {
      throw new Failure('image_gone', `the image ${name} no longer exists`)
    }
    phase.log.info('the image was removed from Docker after the pull')
    await pullImage(phase, { source })
  }
}

function sourceOf({ ports, id }: DeployPhase): DeploySource | undefined {
  return ports.storage.actors.record(id)?.source as DeploySource | undefined
}

/** Logs settings that the instances get in a different form than configured. */
async function logEnvironmentWarnings({ ports, log, release }: DeployPhase, vars: EnvVar[]): Promise<void> {
  const unused = unusedPort(release.settings, vars)
  if (unused) log.info(unused)
  if (vars.some(({ key }) => key === 'PATH')) log.info('the env sets PATH, which replaces that of the image')
  const limit = release.settings.cpu_limit
  if (!limit) return
  const { cpus } = await ports.engine.info()
  if (limit > cpus) {
    log.info(`the host has ${count(cpus, 'CPU')}: the CPU limit of ${limit} is capped at ${cpus}`)
  }
}

/** The current value of a reference; null if the object does not exist. */
export function resolveProperty(
  ports: DeployPorts,
  kind: string,
  name: string,
  property: string,
): string | null {
  if (kind === 'datastore') return lookUpDatastore(ports, name, property)
  const service = kind === 'service' ? ports.storage.services.get(name) : null
  if (!service || service.deleting) return null
  const live = service.live_deploy_id ? ports.storage.actors.record(service.live_deploy_id) : null
  const port = String(service.port ?? live?.port ?? 3000)
  const values: Record<ServiceProperty, string | null> = {
    host: service.name,
    port,
    hostport: `${service.name}:${port}`,
    internalUrl: `http://${service.name}:${port}`,
    url: urlOf(service, ports.publication),
  }
  return Object.hasOwn(values, property) ? values[property as ServiceProperty] : null
}

export async function ensureInstance(
  phase: DeployPhase,
  service: ServiceRow,
  wanted: { image: string; index: number; restart: InstanceSpec['restart'] },
) {
  const { ports, id, signal } = phase
  const network = await ports.engineReady(signal)
  const { release } = phase
  const address = await allocateAddress(ports, id, wanted.index, network)
  const placement = { id, ...wanted, address, network: network.name }
  const plain = instanceSpec(ports, service, release, placement)
  if (!plain.volume) return ports.instances.ensure(plain, signal)
  return withDisk(phase, async () => {
    // A restore may have given the service another volume.
    const spec = instanceSpec(ports, ports.storage.services.get(service.id) ?? service, release, placement)
    await ensureDisk(ports, service, spec)
    return ports.instances.ensure(spec, signal)
  })
}

/** If the container has a disk. Docker itself would create a volume without Berth's labels. */
export async function ensureDisk(
  ports: Pick<DeployPorts, 'engine' | 'owner' | 'storage'>,
  service: ServiceRow,
  { volume, image }: InstanceSpec,
): Promise<void> {
  if (!volume) return
  const owned = { [labels.kind]: diskKind, [labels.id]: service.id, [labels.service]: service.name }
  const { isNew } = await ensureVolume(ports.engine, ports.owner, volume.name, owned)
  const user = (await inspectImage(ports.engine, image))?.user ?? ''
  await giveEmptyDisk(ports, { image, user, volume, serviceId: service.id })
  if (!isNew) return
  const change = { kind: 'disk', id: volume.name, service_id: service.id, status: 'attached', revision: null }
  await ports.storage.commit((commit) => commit.announce(change))
}

export function instanceSpec(
  ports: Pick<DeployPorts, 'owner'> & { settings: DefaultLimits },
  service: ServiceRow,
  release: Release,
  placement: {
    id: string
    image: string
    index: number
    restart: InstanceSpec['restart']
    address: string
    network: string
  },
): InstanceSpec {
  const { settings } = release
  const disk = settings.disk_mount_path
  return {
    name: containerName(ports.owner, {
      serviceName: service.name,
      deployId: placement.id,
      index: placement.index,
    }),
    image: placement.image,
    serviceId: service.id,
    serviceName: service.name,
    deployId: placement.id,
    index: placement.index,
    network: placement.network,
    address: placement.address,
    env: release.resolved ?? release.env,
    command: settings.start_command,
    memoryLimitMb: settings.memory_limit_mb || ports.settings.defaultMemoryLimitMb,
    cpuLimit: settings.cpu_limit || ports.settings.defaultCpuLimit,
    pidsLimit: ports.settings.pidsLimit,
    volume: disk ? { name: diskName(ports.owner, service), mountPath: disk } : null,
    restart: placement.restart,
    init: settings.init ?? true,
  }
}
