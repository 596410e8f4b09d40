// The effects of removing a service: its deploys end by their own charts, then its other objects are removed.
import type { machine } from '../../machines/service-removal.ts'
import type { Effects } from '../../machines/slot.ts'
import type { ServiceRow } from '../../storage/services.ts'
import type { Commit } from '../../storage/store/store.ts'
import type { Instances } from '../docker/containers/instances.ts'
import { removeVolume } from '../docker/containers/volumes.ts'
import { diskName, volumeName } from '../docker/engine/names.ts'
import { listImages, removeImage } from '../docker/images/images.ts'
import { byServer } from './by.ts'
import { removeAbandoned } from './deploy/end/drain.ts'
import type { Edge } from './edge/haproxy-edge.ts'
import type { EnginePorts } from './engine/ports.ts'
import { isoNow } from './iso-now.ts'
import { removeRunContainers } from './job-run/job-run.ts'
import type { AccessLog } from './logs/access-log.ts'
import type { LogCollector } from './logs/log-collector.ts'
import type { SharedPorts } from './ports.ts'
import { retryUntilCleanedUp, waitForCommit } from './waiting.ts'

export interface ServiceRemovalPorts extends SharedPorts, EnginePorts {
  instances: Instances
  edge: Edge
  logCollector: LogCollector
  accessLog: AccessLog
}

/** Actors of a service, other than its deploys, that end with it. */
const companionKinds = [
  'auto-deploy',
  'certificate',
  'commit-status',
  'cron-schedule',
  'disk-chown',
  'job-run',
] as const

export function serviceRemovalEffects(ports: ServiceRemovalPorts): Effects<typeof machine> {
  return {
    async endDeploys({ serviceId }, signal) {
      const active = () => [...ports.storage.actors.active('deploy', serviceId)]
      for (const { id } of active()) {
        await ports.actors.send(id, { type: 'cancel', at: isoNow(), by: 'the removal of its service' })
      }
      // These end by themselves once their service is being deleted.
      const others = () => companionKinds.flatMap((kind) => [...ports.storage.actors.active(kind, serviceId)])
      await waitForCommit(ports.storage.changes, serviceId, signal, () =>
        active().length + others().length === 0 ? true : null,
      )
    },

    async removeBelongings({ serviceId, deleteDisk }, signal) {
      const { services, actors, archives, logs, releases, env, credentials, upstreams, buildCaches } =
        ports.storage
      const { deployKeys, hookDeliveries, hookKeys } = ports.storage
      const service = services.get(serviceId)
      if (!service) return
      await retryUntilCleanedUp(ports, serviceId, signal, async () => {
        await removeAbandoned(ports, serviceId, signal)
        await removeRunContainers(ports, { serviceId })
        for (const { name } of await listImages(ports.engine, ports.owner, service.name)) {
          await removeImage(ports.engine, ports.owner, name)
        }
        if (deleteDisk) await removeVolume(ports.engine, ports.owner, diskName(ports.owner, service))
      })
      for (const id of actors.ids('deploy', serviceId)) {
        await logs.remove(id)
        await releases.remove(id)
        await archives.remove(id)
      }
      for (const id of actors.ids('job-run', serviceId)) await logs.remove(id)
      for (const kind of ['deploy', ...companionKinds]) await actors.removeAll(kind, serviceId)
      await upstreams.release(serviceId)
      await ports.logCollector.remove(serviceId)
      await ports.accessLog.remove(serviceId)
      await services.remove(serviceId, (commit) => {
        env.remove(serviceId)
        buildCaches.remove(serviceId)
        deployKeys.removeWithin(serviceId)
        hookDeliveries.removeOf(serviceId)
        hookKeys.removeWithin(serviceId)
        credentials.put(serviceId, null)
        if (service.disk_mount_path !== null) announceDisk(commit, ports, service, deleteDisk)
      })
    },

    trashDisk: trashDisk(ports),
  }
}

function announceDisk(
  commit: Commit,
  { owner }: ServiceRemovalPorts,
  service: ServiceRow,
  isDeleted: boolean,
): void {
  const status = isDeleted ? 'deleted' : 'kept'
  const id = diskName(owner, service)
  commit.announce({ kind: 'disk', id, service_id: service.id, status, revision: null })
}

function trashDisk(ports: ServiceRemovalPorts): Effects<typeof machine>['trashDisk'] {
  return async ({
    serviceId,
    trash: { id, serviceName, expiresAt, disk = volumeName(ports.owner, serviceId) },
  }) => {
    const { actors } = ports.storage
    const removals = [...actors.active('disk-removal', serviceId)]
    if (!removals.some((one) => actors.record(one.id)?.disk === disk)) {
      const input = { id, disk, serviceId, serviceName, expiresAt, at: isoNow() }
      await ports.actors.spawn('disk-removal', id, input, { by: byServer('the removal of its service') })
    }
  }
}
