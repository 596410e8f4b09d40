// Unpacking the uploaded archive of a deploy, and which archives stay: the last one of each service, and
// those that a deploy is about to unpack.
import type { DeploySource } from '../../../machines/deploy-context.ts'
import type { ActorRecord } from '../../../storage/actors.ts'
import { unpackArchive } from '../../archive/unpack.ts'
import { Failure, messageOf } from '../../errors.ts'
import type { Host } from '../host.ts'
import { freeBytes } from './disk.ts'
import type { DeployLog } from './log.ts'

interface UnpackInput {
  id: string
  source: DeploySource
  /** Made new. */
  directory: string
}

const mebibyte = 1024 * 1024

/** Throws `source_not_found`, `archive_invalid` and `insufficient_storage`. */
export async function unpackSource(host: Host, input: UnpackInput, log: DeployLog, signal: AbortSignal) {
  const { dataDir, minFreeDiskMb } = host.settings
  const { archives } = host.storage
  const archiveId = archiveOf(input)
  if (!archives.has(archiveId)) {
    throw new Failure('source_not_found', `the archive that was uploaded with ${archiveId} is gone`)
  }
  const { entries, bytes } = await unpackArchive({
    file: archives.path(archiveId),
    directory: input.directory,
    signal,
    roomBytes: (await freeBytes(dataDir)) - minFreeDiskMb * mebibyte,
  })
  const counted = entries === 1 ? '1 entry' : `${entries} entries`
  log.say(`unpacked the archive: ${counted}, ${(bytes / mebibyte).toFixed(1)} MiB`)
  await removeFormerArchives(host)
  return { commitSha: null, commitMessage: null }
}

/** A deploy has the archive it came with, or that of the deploy it names. */
function archiveOf({ id, source }: { id: string; source: DeploySource }): string {
  return source.deploy_id ?? id
}

/**
 * Removes the archives that a newer one has replaced. Also after a crash: it goes by what is committed. What
 * cannot be told or removed now stays, and is tried again with the next archive: no deploy fails for it.
 */
export async function removeFormerArchives({ storage, logger }: Pick<Host, 'storage' | 'logger'>) {
  for (const id of await storage.archives.ids()) {
    try {
      if (isFormer(storage, id)) await storage.archives.remove(id)
    } catch (error) {
      logger.warn({ archive: id, reason: messageOf(error) }, 'an archive stays that may not be needed')
    }
  }
}

function isFormer(storage: Host['storage'], archiveId: string): boolean {
  const serviceId = storage.actors.record(archiveId)?.service_id
  // Without a record its upload is not committed yet.
  if (typeof serviceId !== 'string') return false
  const isLast = storage.services.get(serviceId)?.archive_deploy_id === archiveId
  return !isLast && !isAwaited(storage, serviceId, archiveId)
}

function isAwaited({ actors }: Host['storage'], serviceId: string, archiveId: string): boolean {
  const active = [...actors.active('deploy', serviceId)].map(({ id }) => actors.record(id))
  return active.some((record) => record !== null && awaits(record, archiveId))
}

/** Also while it unpacks: it begins again when the daemon dies before that is committed. */
function awaits({ id, status, source }: ActorRecord, archiveId: string): boolean {
  if (status !== 'queued' && status !== 'running') return false
  const wanted = source as DeploySource
  return wanted.kind === 'archive' && archiveOf({ id, source: wanted }) === archiveId
}
