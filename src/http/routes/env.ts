// Env variables of a service, effective at the next start. Values must never be in logs, messages or events.
import { z } from 'zod'
import type { ServiceRow } from '../../../storage/services.ts'
import { readsSecrets } from '../../account/rights.ts'
import { ChangeEnv, EnvChanges, EnvQuery, EnvVar, ReplaceEnv, ShownEnvVar } from '../../api/env.ts'
import { ServiceParams } from '../../api/service.ts'
import { urlOf } from '../../domain/domains.ts'
import { codeOf, Failure, messageOf } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { type Call, type CallById, get, patch, put, tagged } from '../pipeline/route.ts'
import { envBodyLimitBytes } from '../pipeline/validation.ts'
import { assertNotDeleting, decisiveDeploy, findService, publicationOf } from '../records/service-record.ts'
import { queueRestart } from '../rules/deploy-request.ts'
import { assertEnvSize, compareVars, type HasProperty, mergeVars } from '../rules/env.ts'
import { readsService } from './record-routes.ts'

type Save = (id: string, change: (vars: EnvVar[]) => EnvVar[]) => Promise<EnvVar[]>

export const envRoutes = tagged('Env', [
  get('/services/{id}/env', {
    ...readsService,
    summary: 'Lists the env variables, by key',
    response: z.array(ShownEnvVar),
    // Omits values for a caller that may not read secrets.
    handler({ context: { storage }, params, caller }) {
      const vars = storage.env.get(findService(storage, params.id).id)
      return readsSecrets(caller) ? vars : vars.map(({ key }) => ({ key, value: null }))
    },
  }),
  put('/services/{id}/env', {
    summary: 'Replaces all env variables',
    params: ServiceParams,
    query: EnvQuery,
    body: ReplaceEnv,
    bodyLimitBytes: envBodyLimitBytes,
    response: z.union([z.array(EnvVar), EnvChanges]),
    problems: ['conflict'],
    handler: replaceEnv,
  }),
  patch('/services/{id}/env', {
    summary: 'Sets and removes env variables by key',
    params: ServiceParams,
    query: EnvQuery,
    body: ChangeEnv,
    bodyLimitBytes: envBodyLimitBytes,
    response: z.union([z.array(EnvVar), EnvChanges]),
    problems: ['conflict'],
    handler: (call) => changeEnv(call, (vars) => mergeVars(vars, call.body)),
  }),
])

function replaceEnv(call: CallById<EnvQuery, ReplaceEnv>): Promise<EnvVar[] | EnvChanges> {
  const { storage } = call.context
  return changeEnv(
    call,
    () => call.body.vars,
    (id, change) => storage.env.replace(id, () => change([])),
  )
}

/** The external connection string needs the host port, which a datastore gets when it is created. */
function hasDatastoreProperty({ storage }: HttpContext, name: string, property: string): boolean {
  const id = storage.datastores.idOf(name)
  const record = id === name || id === null ? null : storage.actors.record<'datastore'>(id)
  if (!record || record.status === 'deleting') return false
  if (property === 'externalConnectionString') return record.host_port !== null
  return property !== 'database' || record.database !== null
}

async function changeEnv(
  call: CallById<EnvQuery>,
  change: (vars: EnvVar[]) => EnvVar[],
  save: Save = call.context.storage.env.change,
): Promise<EnvVar[] | EnvChanges> {
  const { context, params, query } = call
  const { storage } = context
  const { id } = findService(storage, params.id)
  const checked = (vars: EnvVar[]) => {
    assertNotDeleting(findService(storage, id))
    const changed = change(vars)
    assertEnvSize(changed)
    return changed
  }
  if (query.dry_run) {
    const vars = storage.env.get(id)
    return compareVars(vars, checked(vars), (...property) => hasProperty(context, ...property))
  }
  const saved = await save(id, checked)
  if (query.restart) await restartIfDeployed(call, findService(storage, id))
  return saved
}

function hasProperty(context: HttpContext, ...[noun, name, property]: Parameters<HasProperty>): boolean {
  if (noun === 'datastore') return hasDatastoreProperty(context, name, property)
  const row = context.storage.services.get(name)
  return row?.name === name && (property !== 'url' || urlOf(row, publicationOf(context)) !== null)
}

/** Suspended or never deployed services get the variables with their next deploy. */
async function restartIfDeployed(call: Pick<Call, 'caller' | 'context'>, row: ServiceRow): Promise<void> {
  const { context, caller } = call
  const status = decisiveDeploy(context.storage, row.id)?.status
  const isUnderWay = status === 'queued' || status === 'running'
  if (row.suspended || !(row.live_deploy_id || isUnderWay)) return
  try {
    await queueRestart({ context, caller }, row)
  } catch (error) {
    throw new Failure(
      codeOf(error),
      `the variables are saved, but restarting ${row.name} failed: ${messageOf(error)}`,
      error instanceof Failure ? error.hint : undefined,
    )
  }
}
