// Files in and out of instances and disks, as tar archives that are never stored here.
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import type { z } from 'zod'
import { DiskOrServiceParams } from '../../api/disk.ts'
import { DiskFileQuery, FileQuery, PathFacts } from '../../api/file.ts'
import { ServiceParams } from '../../api/service.ts'
import type { FilePlace } from '../../effects/files.ts'
import { conflict, Failure, invalidRequest } from '../../errors.ts'
import { type Call, type CallById, Download, get, put, tagged, type Upload } from '../pipeline/route.ts'
import { findService } from '../records/service-record.ts'
import { findPresentDisk } from './disks.ts'

export const fileRoutes = [
  ...routesOf('Services', '/services/{id}/files', {
    of: 'an instance',
    params: ServiceParams,
    query: FileQuery,
    placeOf: instancePlace,
  }),
  ...routesOf('Disks', '/disks/{name}/files', {
    of: 'a disk, also while no instance runs',
    params: DiskOrServiceParams,
    query: DiskFileQuery,
    placeOf: diskPlace,
  }),
]

interface Owner<Params extends z.ZodType, Query extends z.ZodType> {
  of: string
  params: Params
  query: Query
  placeOf(call: Call<z.output<Params>, z.output<Query>>): Promise<FilePlace>
}

function routesOf<Params extends z.ZodType, Query extends z.ZodType>(
  tag: string,
  path: string,
  { of, params, query, placeOf }: Owner<Params, Query>,
) {
  const common = {
    params,
    query,
    problems: ['path_not_found', 'conflict', 'docker_unavailable', 'docker_error', 'insufficient_storage'],
  }
  return tagged(tag, [
    get(path, {
      ...common,
      summary: `Returns a file or folder of ${of}`,
      description: 'A tar archive. The connection is cut if it cannot be completed.',
      response: 'bytes',
      isAudited: true,
      async handler(call) {
        await call.recorded
        const content = await call.context.files.read(await placeOf(call))
        return new Download(path, null, 'files.tar', content)
      },
    }),
    put(path, {
      ...common,
      summary: `Writes files into a folder of ${of}`,
      description:
        'The folder must exist. Owners are those in the archive. A cut transfer leaves what has arrived.',
      upload: {
        mediaTypes: ['application/x-tar', 'application/octet-stream'],
        // Nothing of it is stored here, and the transfer ends when the disk of Docker is too full.
        limitBytes: Number.MAX_SAFE_INTEGER,
        description: 'A tar archive, which may be compressed by gzip.',
      },
      handler: (call: Call<z.output<Params>, z.output<Query>, Upload>) =>
        writeFiles(call, () => placeOf(call)),
    }),
    get(`${path}/facts`, {
      ...common,
      summary: `Describes a path of ${of}`,
      response: PathFacts,
      handler: async (call) => call.context.files.inspect(await placeOf(call)),
    }),
  ])
}

async function instancePlace({ context, params, query }: CallById<FileQuery>): Promise<FilePlace> {
  const { id, name, live_deploy_id: deployId } = findService(context.storage, params.id)
  if (deployId === null) throw conflict(`${name} has no live deploy`, `berth deploy ${name} first`)
  return { kind: 'service', id, index: query.instance, path: query.path }
}

async function diskPlace({
  context,
  params,
  query,
}: Call<DiskOrServiceParams, DiskFileQuery>): Promise<FilePlace> {
  return { kind: 'disk', name: (await findPresentDisk(context, params.name)).name, path: query.path }
}

async function writeFiles(
  { context, body, recorded }: Call<unknown, unknown, Upload>,
  placeOf: () => Promise<FilePlace>,
): Promise<undefined> {
  const archive = new PassThrough()
  const cut = new AbortController()
  const received = body.receive({
    open: async () => {},
    async write(piece) {
      if (archive.destroyed) throw new Failure('docker_error', 'Docker stopped reading the archive')
      if (!archive.write(piece)) await Promise.race([once(archive, 'drain'), once(archive, 'close')])
    },
  })
  received.then(
    () => archive.end(),
    (error) => cut.abort(error),
  )
  const written = recorded
    .then(placeOf)
    .then((place) => context.files.write(place, archive, cut.signal))
    .finally(() => archive.destroy())
  const [sizeBytes] = await Promise.all([received, written])
  if (sizeBytes === 0) throw invalidRequest('the body is empty: it must be a tar archive')
}
