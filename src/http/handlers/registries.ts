// Credentials of image registries, used from the next pull on. Responses are built field by field, so that
// they never contain the password.
import type { Registry as StoredRegistry } from '../../../storage/registries.ts'
import type { PutRegistry, Registry, RegistryParams } from '../../api/registry.ts'
import { Failure } from '../../errors.ts'
import type { Call } from '../pipeline/route.ts'

export function listRegistries({ context: { storage } }: Call): Registry[] {
  return storage.registries.list().map(toRegistry)
}

export function getRegistry({ context: { parse, storage }, params }: Call<RegistryParams>): Registry {
  const registry = storage.registries.get(parse.registryHost(params.host))
  if (!registry) throw unknownRegistry()
  return toRegistry(registry)
}

export async function putRegistry(call: Call<RegistryParams, unknown, PutRegistry>): Promise<Registry> {
  const { context, params, body } = call
  const host = context.parse.registryHost(params.host)
  const { username, password, verify } = body
  if (verify) await context.observe.checkLogin({ host, username, password })
  const at = new Date().toISOString()
  return toRegistry(await context.storage.registries.put(host, { username, password }, at))
}

export async function deleteRegistry({ context, params }: Call<RegistryParams>): Promise<undefined> {
  const isRemoved = await context.storage.registries.remove(context.parse.registryHost(params.host))
  if (!isRemoved) throw unknownRegistry()
}

function toRegistry({ host, username, created_at, updated_at }: StoredRegistry): Registry {
  return { host, username, created_at, updated_at }
}

function unknownRegistry(): Failure {
  return new Failure('not_found', 'there are no credentials for this registry')
}
