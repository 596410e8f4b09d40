// The env variables of services.
import { z } from 'zod'
import { ChangeEnv, EnvChanges, EnvQuery, EnvVar, ReplaceEnv, ShownEnvVar } from '../../api/env.ts'
import { ServiceParams } from '../../api/service.ts'
import * as env from '../handlers/env.ts'
import { get, patch, put, tagged } from '../pipeline/route.ts'
import { envBodyLimitBytes } from '../pipeline/validation.ts'

export const envRoutes = tagged('Env', [
  get('/services/{id}/env', {
    role: 'read',
    scope: 'service',
    summary: 'Lists the env variables, by key',
    params: ServiceParams,
    response: z.array(ShownEnvVar),
    handler: env.getEnv,
  }),
  put('/services/{id}/env', {
    summary: 'Replaces all env variables',
    params: ServiceParams,
    query: EnvQuery,
    body: ReplaceEnv,
    bodyLimitBytes: envBodyLimitBytes,
    response: z.union([z.array(EnvVar), EnvChanges]),
    problems: ['conflict'],
    handler: env.replaceEnv,
  }),
  patch('/services/{id}/env', {
    summary: 'Sets and removes env variables by key',
    params: ServiceParams,
    query: EnvQuery,
    body: ChangeEnv,
    bodyLimitBytes: envBodyLimitBytes,
    response: z.union([z.array(EnvVar), EnvChanges]),
    problems: ['conflict'],
    handler: env.updateEnv,
  }),
])
