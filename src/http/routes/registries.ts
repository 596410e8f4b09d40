// The credentials of image registries.
import { z } from 'zod'
import { PutRegistry, Registry, RegistryParams } from '../../api/registry.ts'
import * as registries from '../handlers/registries.ts'
import { del, get, put, tagged } from '../pipeline/route.ts'

export const registryRoutes = tagged('Registries', [
  get('/registries', {
    role: 'read',
    summary: 'Lists the registries with stored credentials, by host',
    response: z.array(Registry),
    handler: registries.listRegistries,
  }),
  get('/registries/{host}', {
    role: 'read',
    summary: 'Returns a registry',
    params: RegistryParams,
    response: Registry,
    handler: registries.getRegistry,
  }),
  put('/registries/{host}', {
    summary: 'Stores the credentials for pulling images of a registry',
    params: RegistryParams,
    body: PutRegistry,
    problems: ['docker_error', 'docker_unavailable'],
    response: Registry,
    handler: registries.putRegistry,
  }),
  del('/registries/{host}', {
    summary: 'Deletes the credentials of a registry',
    params: RegistryParams,
    handler: registries.deleteRegistry,
  }),
])
