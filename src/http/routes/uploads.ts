// Uploads of source archives. The service is checked before the body is streamed to disk, and again in the
// transaction that creates the deploy, because an upload can take long.

import type { ServiceRow } from '../../../storage/services.ts'
import type { Commit } from '../../../storage/store/store.ts'
import { Deploy, UploadQuery } from '../../api/deploy.ts'
import { conflict, invalidRequest } from '../../errors.ts'
import { type CallById, post, tagged, type Upload } from '../pipeline/route.ts'
import { requesterOf } from '../records/requester.ts'
import { assertNotDeleting, findService } from '../records/service-record.ts'
import { assertNotSuspended, queueDeploy, uploadDeployRequest } from '../rules/deploy-request.ts'
import { storeUpload } from '../rules/upload.ts'
import { runsService } from './record-routes.ts'

const mebibyte = 1024 * 1024
const gzipMagic = Buffer.of(0x1f, 0x8b)
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
  const { context, params, query, body, eventId } = call
  const { storage } = context
  const service = findService(storage, params.id)
  assertAcceptsUpload(service)
  const serviceId = service.id
  return storeUpload(context, body, {
    files: storage.archives,
    idPrefix: 'dep',
    headBytes: gzipMagic.length,
    checkHead: assertGzip,
    start(id) {
      const row = findService(storage, serviceId)
      const upload = { id, clearCache: query.clear_cache, by: requesterOf(call) }
      const also = (commit: Commit) => {
        assertAcceptsUpload(findService(storage, serviceId))
        storage.services.setArchive(commit, serviceId, id)
      }
      return queueDeploy(context, uploadDeployRequest(context, row, upload), { eventId, also })
    },
  })
}

function assertGzip(head: Buffer): void {
  if (head.equals(gzipMagic)) return
  const problem = head.length === 0 ? 'is empty' : 'is not a gzip archive'
  throw invalidRequest(`the body ${problem}`, 'send the source as a .tar.gz')
}

/** Throws `conflict` if the service cannot deploy an archive. */
function assertAcceptsUpload(row: ServiceRow): void {
  assertNotDeleting(row)
  assertNotSuspended(row)
  const source = row.repo_url ? 'repository' : row.image ? 'image' : null
  if (!source) return
  throw conflict(
    `${row.name} is deployed from its ${source}; archives are for services with neither repository nor image`,
    `berth deploy ${row.name}, or clear that setting first (berth update with an empty text)`,
  )
}
