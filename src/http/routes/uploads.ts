import type { ArchiveDraft } from '../../../storage/archives.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { Deploy, UploadQuery } from '../../api/deploy.ts'
import { Failure } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { type CallById, post, tagged, type Upload } from '../pipeline/route.ts'
import { requesterOf } from '../records/requester.ts'
import { assertNotDeleting, findService } from '../records/service-record.ts'
import { assertNotSuspended, queueDeploy, uploadDeployRequest } from '../rules/deploy-request.ts'
import { assertDiskSpace } from '../rules/disk-space.ts'
import type { Sink } from '../server/body.ts'
import { runsService } from './record-routes.ts'

const mebibyte = 1024 * 1024
const gzipMagic = [0x1f, 0x8b]
const archiveUpload = {
  mediaTypes: ['application/gzip', 'application/x-gzip', 'application/octet-stream'],
  limitBytes: 512 * mebibyte,
  description:
    'The source as a .tar.gz, at most 512 MiB; a single folder at its top is left out, unless ' +
    'root_dir, dockerfile_path or publish_dir begins with it.',
}

export const uploadRoutes = tagged('Deploys', [
  post('/services/{id}/deploys/upload', {
    ...runsService,
    summary: 'Queues a deploy of the uploaded source, which is kept for later deploys until the next upload',
    query: UploadQuery,
    upload: archiveUpload,
    response: Deploy,
    status: 202,
    problems: ['conflict'],
    handler: uploadDeploy,
  }),
])

async function uploadDeploy(call: CallById<UploadQuery, Upload>): Promise<Deploy> {
  const { context, params, body } = call
  const row = findService(context.storage, params.id)
  assertAcceptsUpload(row)
  const draft = context.storage.archives.create()
  try {
    const sizeBytes = await context.whileDiskHasRoom('an upload', (signal) =>
      body.receive(gatedSink(context, body, draft, signal)),
    )
    if (sizeBytes < gzipMagic.length) throw noArchive(sizeBytes === 0 ? 'is empty' : 'is not a gzip archive')
    return await deployDraft(call, row, draft)
  } finally {
    await draft.discard()
  }
}

/** Throws `conflict` if the service cannot deploy an archive. */
function assertAcceptsUpload(row: ServiceRow): void {
  assertNotDeleting(row)
  assertNotSuspended(row)
  const source = row.repo_url ? 'repository' : row.image ? 'image' : null
  if (!source) return
  throw new Failure(
    'conflict',
    `${row.name} is deployed from its ${source}; archives are for services with neither repository nor image`,
    `berth deploy ${row.name}, or clear that setting first (berth update with an empty text)`,
  )
}

/** Rejects data that does not fit on the disk or is not gzip. */
function gatedSink(
  context: HttpContext,
  { contentLength }: Upload,
  draft: ArchiveDraft,
  signal: AbortSignal,
): Sink {
  let seen = 0
  return {
    open: () => assertDiskSpace(context, contentLength ?? 0),
    async write(pieces) {
      signal.throwIfAborted()
      for (const piece of pieces) {
        for (const byte of piece.subarray(0, gzipMagic.length - seen)) {
          if (byte !== gzipMagic[seen++]) throw noArchive('is not a gzip archive')
        }
      }
      await draft.write(pieces)
    },
  }
}

function noArchive(problem: string): Failure {
  return new Failure('invalid_request', `the body ${problem}`, 'send the source as a .tar.gz')
}

/** The archive is on the disk before the deploy is committed, and gone again when that fails. */
async function deployDraft(
  call: CallById<UploadQuery, Upload>,
  { id: serviceId }: ServiceRow,
  draft: ArchiveDraft,
): Promise<Deploy> {
  const { context, query, eventId } = call
  const { storage } = context
  const id = storage.ids.newId('dep')
  try {
    await draft.commit(id)
    const row = findService(storage, serviceId)
    const upload = { id, clearCache: query.clear_cache, by: requesterOf(call) }
    return await queueDeploy(context, uploadDeployRequest(context, row, upload), {
      eventId,
      also(commit) {
        assertAcceptsUpload(findService(storage, serviceId))
        storage.services.setArchive(commit, serviceId, id)
      },
    })
  } catch (error) {
    if (!storage.actors.record(id)) await storage.archives.remove(id)
    throw error
  }
}
