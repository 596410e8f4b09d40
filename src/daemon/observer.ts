// The current state in Docker, for live responses of the API. Read-only.
import type { InstanceState } from '../docker/containers/instances.ts'
import { hasVolume, listVolumes, type Volume, volumeExists } from '../docker/containers/volumes.ts'
import { datastoreName, diskKind, imageVolumeKind, labels } from '../docker/engine/names.ts'
import { inspectImage } from '../docker/images/images.ts'
import type { RegistryCredentials } from '../docker/images/registry-credentials.ts'
import { checkLogin } from '../docker/images/registry-login.ts'
import { listens } from '../domain/service-types.ts'
import { findDatastore } from '../effects/datastore/access.ts'
import { measureDatabases } from '../effects/datastore/upgrade.ts'
import { freeBytes } from '../effects/disk/disk.ts'
import { createDiskUsage } from '../effects/disk/disk-usage.ts'
import { listLeftBehind } from '../effects/engine/left-behind.ts'
import { listMissing } from '../effects/engine/missing.ts'
import type { Ports } from './ports.ts'

type Parts = Pick<
  Ports,
  | 'instances'
  | 'datastores'
  | 'engine'
  | 'logger'
  | 'isolation'
  | 'owner'
  | 'settings'
  | 'storage'
  | 'instanceMetrics'
  | 'progress'
  | 'places'
  | 'degradedReasons'
  | 'builderWatch'
  | 'serverBackups'
>

export function createObserver(ports: Parts) {
  const disksOf = async (kind: string, options = {}) => {
    const volumes = await listVolumes(ports.engine, ports.owner, options)
    return volumes.filter(({ labels: found }) => found[labels.kind] === kind).map(toDisk)
  }
  return {
    /** The instances of a service, in order. Throws `docker_unavailable`. */
    async instances(serviceId: string) {
      const found = await ports.instances.list({ serviceId })
      return Promise.all(found.sort(byDeployAndIndex).map((instance) => toStatus(ports, instance)))
    },
    degradedReason: (deployId: string) => ports.degradedReasons.get(deployId) ?? null,
    engine: () => ports.engine.info().catch(() => null),
    isolation: () => ports.isolation.state(),
    builderHangsSince: () => ports.builderWatch.hangsSince(),
    usage: () => ports.instanceMetrics.latest(),
    counters: (serviceId: string) => ports.instanceMetrics.countersOf(serviceId),
    missingSince: (restoredAt: string) => listMissing(ports, restoredAt),
    diskFreeBytes: () => freeBytes(ports.settings.dataDir),
    diskUsage: createDiskUsage(ports),
    /** Also disks of deleted services and volumes that instances left. Throws `docker_unavailable`. */
    async disks() {
      const named = await disksOf(diskKind)
      const adopted = ports.storage.services
        .list()
        .flatMap(({ id, name, disk_volume }) =>
          disk_volume === undefined ? [] : [{ name: disk_volume, serviceId: id, serviceName: name }],
        )
      const unused = await disksOf(imageVolumeKind, { unused: true })
      return [...new Map([...unused, ...named, ...adopted].map((disk) => [disk.name, disk])).values()]
    },
    async assertVolumeFree(datastore: string) {
      const name = datastoreName(ports.owner, datastore)
      // While the engine is unavailable this is unknown: the start of the datastore checks again.
      const isThere = await hasVolume(ports.engine, name).catch(() => false)
      if (isThere) throw volumeExists('conflict', name)
    },
    databaseBytes: (id: string) => measureDatabases(ports, findDatastore(ports, id)),
    leftBehind: (actor: Parameters<typeof listLeftBehind>[1]) => listLeftBehind(ports, actor),
    progress: (id: string) => ports.progress.get(id) ?? null,
    checkLogin: (registry: RegistryCredentials) => checkLogin(ports.engine, registry),
    hasImage: (name: string) =>
      inspectImage(ports.engine, name).then(
        (image) => image !== null,
        () => null,
      ),
  }
}

function toDisk({ name, labels: found }: Volume) {
  return { name, serviceId: found[labels.id] ?? '', serviceName: found[labels.service] ?? '' }
}

async function toStatus(ports: Parts, instance: InstanceState) {
  const service = ports.storage.services.get(instance.serviceId)
  const port = service && !listens(service) ? null : ports.storage.actors.record(instance.deployId)?.port
  const usage =
    instance.state === 'running' ? await ports.instances.usage(instance.name).catch(() => null) : null
  return {
    container_id: instance.containerId,
    name: instance.name,
    deploy_id: instance.deployId,
    state: instance.state,
    address: instance.address && port ? `${instance.address}:${port}` : instance.address,
    started_at: instance.startedAt,
    restart_count: instance.restartCount,
    cpu_percent: usage?.cpuPercent ?? null,
    memory_bytes: usage?.memoryBytes ?? null,
    memory_limit_bytes: instance.memoryLimitBytes,
    cpu_limit: instance.cpuLimit,
    oom_killed: instance.oomKilled,
    health: instance.health?.status ?? null,
    exit_code: instance.exitCode,
  }
}

function byDeployAndIndex(a: InstanceState, b: InstanceState): number {
  return a.deployId === b.deployId ? a.index - b.index : a.deployId < b.deployId ? -1 : 1
}
