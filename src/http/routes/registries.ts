// Credentials of image registries. Responses are built field by field: they never contain the password.
import { z } from 'zod'
import type { Registry as StoredRegistry } from '../../../storage/registries.ts'
import { PutRegistry, Registry, RegistryParams } from '../../api/registry.ts'
import { type Failure, notFound } from '../../errors.ts'
import { type Call, del, get, put, tagged } from '../pipeline/route.ts'

export const registryRoutes = tagged('Registries', [
  get('/registries', {
    role: 'read',
    summary: 'Lists the registries with stored credentials, by host',
    response: z.array(Registry),
    handler: ({ context: { storage } }) => storage.registries.list().map(toRegistry),
  }),
  get('/registries/{host}', {
    role: 'read',
    summary: 'Returns a registry',
    params: RegistryParams,
    response: Registry,
    handler({ context: { parse, storage }, params }) {
      const registry = storage.registries.get(parse.registryHost(params.host))
      if (!registry) throw unknownRegistry()
      return toRegistry(registry)
    },
  }),
  put('/registries/{host}', {
    summary: 'Stores the credentials for pulling images of a registry',
    params: RegistryParams,
    body: PutRegistry,
    problems: ['docker_error', 'docker_unavailable'],
    response: Registry,
    handler: putRegistry,
  }),
  del('/registries/{host}', {
    summary: 'Deletes the credentials of a registry',
    params: RegistryParams,
    async handler({ context, params }) {
      const isRemoved = await context.storage.registries.remove(context.parse.registryHost(params.host))
      if (!isRemoved) throw unknownRegistry()
    },
  }),
])

async function putRegistry(call: Call<RegistryParams, unknown, PutRegistry>): Promise<Registry> {
  const { context, params, body } = call
  const host = context.parse.registryHost(params.host)
  const { username, password, verify } = body
  if (verify) await context.observe.checkLogin({ host, username, password })
  const at = new Date().toISOString()
  return toRegistry(await context.storage.registries.put(host, { username, password }, at))
}

function toRegistry({ host, username, created_at, updated_at }: StoredRegistry): Registry {
  return { host, username, created_at, updated_at }
}

function unknownRegistry(): Failure {
  return notFound('there are no credentials for this registry')
}
