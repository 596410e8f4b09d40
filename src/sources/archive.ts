// Unpacks the uploaded archive of a deploy. Of each service, the last archive stays, and those that a deploy
// will unpack.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { DeploySource } from '../../machines/deploy/deploy-context.ts'
import type { ActorRecord } from '../../storage/actors/actors.ts'
import type { Storage } from '../../storage/index.ts'
import type { ServiceSettings } from '../../storage/services.ts'
import { unpackArchive } from '../archive/unpack.ts'
import { findUsualDockerfile } from '../domain/dockerfiles.ts'
import { Failure, messageOf } from '../errors.ts'
import { size } from '../quantities.ts'
import type { FetchJob, Source } from './source.ts'

export const archive: Source = {
  fetch: unpackSource,
  ignoredFileAdvice:
    'if .gitignore leaves it out of uploads, write it or its folder into .berthignore, after a !',
}

/** Creates the directory. Throws `source_not_found`, `archive_invalid` and `insufficient_storage`. */
async function unpackSource(job: FetchJob) {
  const { deployId, source, settings, onLine } = job
  const { archives } = job.storage
  const archiveId = archiveOf({ id: deployId, source })
  if (!archives.has(archiveId)) {
    throw new Failure('source_not_found', `the archive that was uploaded with ${archiveId} is gone`)
  }
  const unpacked = await unpackArchive({
    file: archives.path(archiveId),
    directory: job.directory,
    signal: job.signal,
    roomBytes: await job.roomBytes(),
    keepsFolder: (tree, folder) => isFolderInSettings(tree, folder, settings),
  })
  if (unpacked.leftOut) onLine(`left out the single folder ${unpacked.leftOut} at the top of the archive`)
  const counted = unpacked.entries === 1 ? '1 entry' : `${unpacked.entries} entries`
  onLine(`unpacked the archive: ${counted}, ${size(unpacked.bytes)}`)
  return { commitSha: null, commitMessage: null }
}

/** Whether a path in the settings starts with it. With a Dockerfile, a site's path is inside its image. */
function isFolderInSettings(tree: string, folder: string, settings: ServiceSettings): boolean {
  const { type, root_dir, dockerfile_path, publish_dir } = settings
  const inFolder = (path: string) => existsSync(join(tree, folder, path))
  const hasDockerfile = findUsualDockerfile(readdirSync(join(tree, folder)), type) !== undefined
  const path = root_dir ?? dockerfile_path ?? (hasDockerfile ? null : publish_dir)
  return path !== null && existsSync(join(tree, path)) && !inFolder(path)
}

/** The id of the archive: uploaded with this deploy, or with the deploy that its source names. */
function archiveOf({ id, source }: { id: string; source: DeploySource }): string {
  return source.deploy_id ?? id
}

/** Called when archives may have become superfluous. One that cannot be removed is retried the next time. */
export async function removeFormerArchives({ storage, logger }: Pick<FetchJob, 'storage' | 'logger'>) {
  for (const id of await storage.archives.ids()) {
    try {
      if (isReplaced(storage, id)) await storage.archives.remove(id)
    } catch (error) {
      logger.warn({ archive: id, reason: messageOf(error) }, 'an archive could not be removed')
    }
  }
}

function isReplaced(storage: Storage, archiveId: string): boolean {
  const serviceId = storage.actors.record(archiveId)?.service_id
  // Without a record, its upload is not committed yet.
  if (typeof serviceId !== 'string') return false
  const service = storage.services.get(serviceId)
  const isCurrent = service?.archive_deploy_id === archiveId
  return !isCurrent && !isNeededByDeploy(storage, serviceId, archiveId)
}

function isNeededByDeploy({ actors }: Storage, serviceId: string, archiveId: string): boolean {
  const active = [...actors.active('deploy', serviceId)].map(({ id }) => actors.record(id))
  return active.some((record) => record !== null && needsArchive(record, archiveId))
}

/** Includes a deploy that is unpacking: if the daemon dies before the commit, unpacking is repeated. */
function needsArchive({ id, status, phase, source }: ActorRecord, archiveId: string): boolean {
  if (status !== 'queued' && phase !== 'fetching') return false
  const requested = source as DeploySource
  return requested.kind === 'archive' && archiveOf({ id, source: requested }) === archiveId
}
