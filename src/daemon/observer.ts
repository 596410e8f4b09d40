// What runs now, as Docker tells it: for the API's live answers. Nothing here changes anything.

import type { InstanceState } from '../docker/containers/instances.ts'
import { hasVolume, listVolumes, type Volume, volumeExists } from '../docker/containers/volumes.ts'
import { datastoreName, diskKind, labels } from '../docker/engine/names.ts'
import { inspectImage } from '../docker/images/images.ts'
import type { RegistryCredentials } from '../docker/images/registry-credentials.ts'
import { checkLogin } from '../docker/images/registry-login.ts'
import { listens } from '../domain/service-types.ts'
import { freeBytes } from '../effects/disk/disk.ts'
import { createDiskUsage } from '../effects/disk/disk-usage.ts'
import { listLeftBehind } from '../effects/engine/left-behind.ts'
import type { Host } from '../effects/host.ts'

type Parts = Pick<
  Host,
  | 'instances'
  | 'engine'
  | 'logger'
  | 'isolation'
  | 'owner'
  | 'settings'
  | 'storage'
  | 'instanceEvents'
  | 'instanceMetrics'
  | 'progress'
  | 'troubles'
  | 'builderWatch'
>

export function createObserver(host: Parts) {
  return {
    /** The instances of a service, in order. Throws `docker_unavailable`. */
    async instances(serviceId: string) {
      const found = await host.instances.list({ serviceId })
      return Promise.all(found.sort(byDeployAndIndex).map((instance) => toStatus(host, instance)))
    },
    trouble: (deployId: string) => host.troubles.get(deployId) ?? null,
    engine: () => host.engine.info().catch(() => null),
    isolation: () => host.isolation.state(),
    builderHangsSince: () => host.builderWatch.hangsSince(),
    usage: () => host.instanceMetrics.latest(),
    counters: (serviceId: string) => host.instanceMetrics.countersOf(serviceId),
    diskFreeBytes: () => freeBytes(host.settings.dataDir),
    diskUsage: createDiskUsage(host),
    /** The disks of services, also of services that are gone, by name. Throws `docker_unavailable`. */
    async disks() {
      const volumes = await listVolumes(host.engine, host.owner)
      return volumes.filter(({ labels: found }) => found[labels.kind] === diskKind).map(toDisk)
    },
    async refuseVolume(datastore: string) {
      const name = datastoreName(host.owner, datastore)
      // An engine that is away cannot say: the start of the datastore looks again.
      const isThere = await hasVolume(host.engine, name).catch(() => false)
      if (isThere) throw volumeExists('conflict', name)
    },
    leftBehind: (actor: Parameters<typeof listLeftBehind>[1]) => listLeftBehind(host, actor),
    progress: (id: string) => host.progress.get(id) ?? null,
    checkLogin: (registry: RegistryCredentials) => checkLogin(host.engine, registry),
    hasImage: (name: string) =>
      inspectImage(host.engine, name).then(
        (image) => image !== null,
        () => null,
      ),
  }
}

function toDisk({ name, labels: found }: Volume) {
  return { name, serviceId: found[labels.id] ?? '', serviceName: found[labels.service] ?? '' }
}

async function toStatus(host: Parts, instance: InstanceState) {
  const service = host.storage.services.get(instance.serviceId)
  const port = service && !listens(service) ? null : host.storage.actors.record(instance.deployId)?.port
  const usage =
    instance.state === 'running' ? await host.instances.usage(instance.name).catch(() => null) : null
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
