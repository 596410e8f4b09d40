// Gives all files of a disk to another user, in a container that has nothing but the disk: a link of the disk
// cannot lead to files of the host.
import type { ChownInput, machine } from '../../machines/disk-chown.ts'
import type { Effects } from '../../machines/slot.ts'
import { obtainNginx } from '../builders/static-site/site-server.ts'
import { idsText, resolveUser, type UserIds } from '../docker/containers/image-user.ts'
import type { OneShotContainers } from '../docker/containers/one-shot-containers.ts'
import { withReference } from '../docker/containers/reference-container.ts'
import { findVolume } from '../docker/containers/volumes.ts'
import { inspectImage } from '../docker/images/images.ts'
import { Failure } from '../errors.ts'
import type { EnginePorts } from './engine/ports.ts'
import type { SharedPorts } from './ports.ts'
import { retryWhileEngineUnavailable } from './waiting.ts'

export interface DiskChownPorts extends SharedPorts, EnginePorts {
  tools: OneShotContainers
  /** `staticImage` replaces the image of static sites, which has a shell and `chown`. */
  settings: { staticImage: string }
}

const mountPath = '/disk'
const limits = { memoryLimitMb: 128, cpuLimit: 1, pidsLimit: 64 }
const shownChars = 500

export function diskChownEffects(ports: DiskChownPorts): Effects<typeof machine> {
  return {
    async changeOwner(input, signal) {
      return retryWhileEngineUnavailable(ports, signal, () => changeOwner(ports, input, signal))
    },
  }
}

async function changeOwner(ports: DiskChownPorts, input: ChownInput, signal: AbortSignal): Promise<UserIds> {
  const { engine, owner, tools, settings, logger } = ports
  const { id, disk } = input
  // Docker would create a missing volume.
  if ((await findVolume(engine, owner, disk)) === null)
    throw new Failure('not_found', `the disk ${disk} no longer exists`)
  const ids = await resolveOwner(ports, input)
  const onOther = (facts: object) =>
    logger.info({ actor: id, ...facts }, 'nginx, which has chown, cannot be pulled')
  const image = settings.staticImage || (await obtainNginx(engine, onOther, signal))
  // `-h` changes a link itself, not what it leads to.
  const argv = ['sh', '-c', `exec chown -Rh "$0" ${mountPath}`, idsText(ids)]
  const volume = { name: disk, mountPath }
  const spec = { id, image, argv, volume, ...limits, env: {}, networkOf: null, user: '0:0' }
  const { exitCode, stderr } = await tools.run(spec, {}, signal)
  if (exitCode === 0) return ids
  const reason = stderr.trim().replaceAll('\n', '; ').slice(0, shownChars) || `exit code ${exitCode}`
  throw new Failure('chown_failed', `the owner could not be changed: ${reason}`)
}

/** An owner is read as `USER` of a Dockerfile is: a number without a group gets that of the image, or 0. */
async function resolveOwner(ports: DiskChownPorts, { id, serviceId, owner }: ChownInput): Promise<UserIds> {
  const image = liveImage(ports, serviceId)
  const user = owner ?? (image && (await inspectImage(ports.engine, image))?.user) ?? null
  if (user !== null && /^\d+:\d+$/.test(user)) return toIds(user)
  if (image !== null && user !== null) {
    const reference = { key: `users-${id}`, actorId: id, image }
    const ids = await withReference(ports, reference, async (container) => ({
      found: await resolveUser(ports, container, user || '0'),
    }))
    if (ids?.found) return ids.found
    if (ids !== null)
      throw new Failure('invalid_request', `the live image has no user or group '${user}': give numbers`)
  }
  if (user !== null && /^\d+$/.test(user)) return toIds(`${user}:0`)
  throw new Failure('image_gone', 'the live image, which has the names of users, is gone: give numbers')
}

function toIds(text: string): UserIds {
  const [uid, gid] = text.split(':').map(Number)
  return { uid: uid!, gid: gid! }
}

function liveImage({ storage }: DiskChownPorts, serviceId: string): string | null {
  const liveId = storage.services.get(serviceId)?.live_deploy_id
  const image = liveId ? storage.actors.record(liveId)?.image : null
  return typeof image === 'string' ? image : null
}
