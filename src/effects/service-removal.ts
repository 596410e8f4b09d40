// The effects of removing a service: its deploys end by their own charts, then what belongs to it goes.
import type { machine } from '../../machines/service-removal.ts'
import type { Effects } from '../../machines/slot.ts'
import type { Commit } from '../../storage/store/store.ts'
import { removeVolume } from '../docker/containers/volumes.ts'
import { volumeName } from '../docker/engine/names.ts'
import { removeImage } from '../docker/images/images.ts'
import { byServer } from './by.ts'
import { removeAbandoned } from './deploy/end/drain.ts'
import { listOwnImages } from './engine/images-in-use.ts'
import { type Host, isoNow } from './host.ts'
import { removeRunContainers } from './job-run/clear.ts'
import { retryUntilCleanedUp, untilCommitted } from './waiting.ts'

/** Actors beside the deploys of a service that end with it. */
const companions = ['certificate', 'cron-schedule', 'job-run'] as const

export function serviceRemovalEffects(host: Host): Effects<typeof machine> {
  return {
    async endDeploys({ serviceId }, signal) {
      const active = () => [...host.storage.actors.active('deploy', serviceId)]
      for (const { id } of active()) {
        await host.actors.send(id, { type: 'cancel', at: isoNow(), by: 'the removal of its service' })
      }
      // These give themselves up as soon as their service is being deleted.
      const others = () => companions.flatMap((kind) => [...host.storage.actors.active(kind, serviceId)])
      await untilCommitted(host.storage.changes, serviceId, signal, () =>
        active().length + others().length === 0 ? true : null,
      )
      return { at: isoNow() }
    },

    async removeBelongings({ serviceId, deleteDisk }, signal) {
      const { services, actors, archives, logs, releases, env, credentials, upstreams, buildCaches } =
        host.storage
      const service = services.get(serviceId)
      if (!service) return { at: isoNow() }
      await retryUntilCleanedUp(host, serviceId, signal, async () => {
        await removeAbandoned(host, serviceId, signal)
        await removeRunContainers(host, { serviceId })
        for (const { name } of await listOwnImages(host, service.name)) {
          await removeImage(host.engine, host.owner, name)
        }
        if (deleteDisk) await removeVolume(host.engine, host.owner, volumeName(host.owner, serviceId))
      })
      for (const id of actors.ids('deploy', serviceId)) {
        await logs.remove(id)
        await releases.remove(id)
        await archives.remove(id)
      }
      for (const id of actors.ids('job-run', serviceId)) await logs.remove(id)
      for (const kind of ['deploy', ...companions]) await actors.forget(kind, serviceId)
      await upstreams.release(serviceId)
      await host.logCollector.remove(serviceId)
      await host.accessLog.remove(serviceId)
      await services.remove(serviceId, (commit) => {
        env.remove(serviceId)
        buildCaches.remove(serviceId)
        credentials.put(serviceId, null)
        if (service.disk_mount_path !== null) announceDisk(commit, host, serviceId, deleteDisk)
      })
      return { at: isoNow() }
    },

    trashDisk: trashDisk(host),
  }
}

function announceDisk(commit: Commit, { owner }: Host, serviceId: string, isDeleted: boolean): void {
  const status = isDeleted ? 'deleted' : 'kept'
  const id = volumeName(owner, serviceId)
  commit.announce({ kind: 'disk', id, service_id: serviceId, status, revision: null })
}

function trashDisk(host: Host): Effects<typeof machine>['trashDisk'] {
  return async ({ serviceId, trash: { id, serviceName, expiresAt } }) => {
    const [known] = host.storage.actors.active('disk-removal', serviceId)
    if (!known) {
      const disk = volumeName(host.owner, serviceId)
      const input = { id, disk, serviceId, serviceName, expiresAt, at: isoNow() }
      await host.actors.spawn('disk-removal', id, input, { by: byServer('the removal of its service') })
    }
    return { at: isoNow() }
  }
}
