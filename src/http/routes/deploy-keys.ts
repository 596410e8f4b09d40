// Deploy keys of services. Responses never contain the private half.
import { CreateDeployKey, DeployKey } from '../../api/deploy-key.ts'
import { ServiceParams } from '../../api/service.ts'
import type { ShownDeployKey } from '../../effects/git-connection/deploy-keys.ts'
import { notFound } from '../../errors.ts'
import { type CallById, del, get, post, tagged } from '../pipeline/route.ts'
import { assertNotDeleting, findService } from '../records/service-record.ts'
import { readsService } from './record-routes.ts'

export const deployKeyRoutes = tagged('Deploy keys', [
  get('/services/{id}/deploy-key', {
    ...readsService,
    summary: 'Returns the deploy key of a service, and the host keys that are pinned',
    response: DeployKey,
    handler({ context, params }) {
      const { id, name } = findService(context.storage, params.id)
      const key = context.deployKeys.show(id)
      if (!key) throw noDeployKey(name)
      return toDeployKey(key)
    },
  }),
  post('/services/{id}/deploy-key', {
    summary: 'Creates the deploy key of a service, or returns the one that it has',
    params: ServiceParams,
    body: CreateDeployKey,
    acceptsIdempotencyKey: false,
    problems: ['conflict'],
    response: DeployKey,
    handler: createDeployKey,
  }),
  del('/services/{id}/deploy-key', {
    summary: 'Deletes the deploy key of a service, and forgets the pinned host keys',
    params: ServiceParams,
    async handler({ context: { storage }, params }) {
      const { id, name } = findService(storage, params.id)
      if (!(await storage.deployKeys.remove(id))) throw noDeployKey(name)
    },
  }),
  del('/services/{id}/deploy-key/hosts', {
    summary: 'Forgets the pinned host keys, for a git server that has a new one',
    params: ServiceParams,
    async handler({ context: { storage }, params }) {
      const { id, name } = findService(storage, params.id)
      if (!(await storage.deployKeys.forgetHosts(id))) throw noDeployKey(name)
    },
  }),
])

async function createDeployKey({ context, params, body }: CallById<unknown, CreateDeployKey>) {
  const service = findService(context.storage, params.id)
  assertNotDeleting(service)
  return toDeployKey(await context.deployKeys.create(service, { replaces: body.rotate ?? false }))
}

function toDeployKey({ publicKey, fingerprint, createdAt, hosts }: ShownDeployKey): DeployKey {
  return {
    public_key: publicKey,
    fingerprint,
    created_at: createdAt,
    hosts: hosts.map(({ pinnedAt, ...host }) => ({ ...host, pinned_at: pinnedAt })),
  }
}

const noDeployKey = (name: string) =>
  notFound(`${name} has no deploy key`, `berth deploy-key ${name} makes one`)
