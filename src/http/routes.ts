// Every route of the API, on one page. Validation, types and the OpenAPI document come from here.
import { z } from 'zod'
import * as deploys from './handlers/deploys.ts'
import * as env from './handlers/env.ts'
import * as events from './handlers/events.ts'
import * as server from './handlers/server.ts'
import * as services from './handlers/services.ts'
import { type Route, route, tagged } from './route.ts'
import {
  CreateDeploy,
  Deploy,
  DeployLogQuery,
  DeployParams,
  HistoryEntry,
  ListQuery,
} from './schemas/deploy.ts'
import { ChangeEnv, EnvChanges, EnvQuery, EnvVar, ReplaceEnv } from './schemas/env.ts'
import { Document, Info } from './schemas/info.ts'
import {
  CreateService,
  DeleteQuery,
  ScaleService,
  Service,
  ServiceParams,
  UpdateService,
} from './schemas/service.ts'
import { ServiceLogQuery, ServiceStatus } from './schemas/status.ts'

const v1 = '/api/v1'
const envLimitBytes = 4 * 1024 * 1024

const serverRoutes = tagged('Server', [
  route({
    method: 'GET',
    path: '/healthz',
    credential: 'public',
    summary: 'Whether the server is up: `ok`, or 503 `starting`',
    answer: 'text',
    handler: server.health,
  }),
  route({
    method: 'GET',
    path: `${v1}/openapi.json`,
    credential: 'public',
    summary: 'This document',
    answer: Document,
    handler: server.createOpenApi(() => routes),
  }),
  route({
    method: 'GET',
    path: `${v1}/info`,
    summary: 'Version, defaults and machine',
    answer: Info,
    handler: server.info,
  }),
  route({
    method: 'GET',
    path: `${v1}/events`,
    summary:
      'The change feed: `ready`, then `change` after each commit; `reset` when Last-Event-ID is too old',
    answer: 'stream',
    handler: events.followChanges,
  }),
])

const serviceRoutes = tagged('Services', [
  route({
    method: 'GET',
    path: `${v1}/services`,
    summary: 'All services, by name',
    answer: z.array(Service),
    handler: services.listServices,
  }),
  route({
    method: 'POST',
    path: `${v1}/services`,
    summary: 'Creates a service and, with a repository, queues its first deploy',
    body: CreateService,
    bodyLimitBytes: envLimitBytes,
    answer: Service,
    status: 201,
    problems: ['name_taken'],
    handler: services.createService,
  }),
  route({
    method: 'GET',
    path: `${v1}/services/{id}`,
    summary: 'One service',
    params: ServiceParams,
    answer: Service,
    handler: services.getService,
  }),
  route({
    method: 'PATCH',
    path: `${v1}/services/{id}`,
    summary:
      'Changes settings; instances and suspended act at once, the rest with the next deploy or restart',
    params: ServiceParams,
    body: UpdateService,
    answer: Service,
    problems: ['conflict'],
    handler: services.updateService,
  }),
  route({
    method: 'DELETE',
    path: `${v1}/services/{id}`,
    summary: 'Deletes a service; its disk is kept unless told otherwise',
    params: ServiceParams,
    query: DeleteQuery,
    problems: ['in_use'],
    handler: services.deleteService,
  }),
  route({
    method: 'GET',
    path: `${v1}/services/{id}/status`,
    summary: 'What runs of a service right now',
    params: ServiceParams,
    answer: ServiceStatus,
    problems: ['docker_error', 'docker_unavailable'],
    handler: services.serviceStatus,
  }),
  route({
    method: 'GET',
    path: `${v1}/services/{id}/logs`,
    summary: 'The runtime log: `log` for each line, `end` after the last one unless it follows',
    params: ServiceParams,
    query: ServiceLogQuery,
    answer: 'stream',
    problems: ['docker_unavailable'],
    handler: services.serviceLogs,
  }),
  route({
    method: 'POST',
    path: `${v1}/services/{id}/restart`,
    summary: 'Runs the live image again, with current settings and env',
    params: ServiceParams,
    answer: Deploy,
    status: 202,
    problems: ['conflict'],
    handler: services.restartService,
  }),
  route({
    method: 'POST',
    path: `${v1}/services/{id}/suspend`,
    summary: 'Stops all instances until it is resumed',
    params: ServiceParams,
    answer: Service,
    problems: ['conflict'],
    handler: services.suspendService,
  }),
  route({
    method: 'POST',
    path: `${v1}/services/{id}/resume`,
    summary: 'Starts the instances of a suspended service again',
    params: ServiceParams,
    answer: Service,
    problems: ['conflict'],
    handler: services.resumeService,
  }),
  route({
    method: 'POST',
    path: `${v1}/services/{id}/scale`,
    summary: 'Sets the number of instances, at once',
    params: ServiceParams,
    body: ScaleService,
    answer: Service,
    problems: ['conflict'],
    handler: services.scaleService,
  }),
])

const envRoutes = tagged('Env', [
  route({
    method: 'GET',
    path: `${v1}/services/{id}/env`,
    summary: 'The env variables, by key',
    params: ServiceParams,
    answer: z.array(EnvVar),
    handler: env.getEnv,
  }),
  route({
    method: 'PUT',
    path: `${v1}/services/{id}/env`,
    summary: 'Replaces all env variables',
    params: ServiceParams,
    query: EnvQuery,
    body: ReplaceEnv,
    bodyLimitBytes: envLimitBytes,
    answer: z.union([z.array(EnvVar), EnvChanges]),
    problems: ['conflict'],
    handler: env.replaceEnv,
  }),
  route({
    method: 'PATCH',
    path: `${v1}/services/{id}/env`,
    summary: 'Sets and removes env variables by key',
    params: ServiceParams,
    query: EnvQuery,
    body: ChangeEnv,
    bodyLimitBytes: envLimitBytes,
    answer: z.union([z.array(EnvVar), EnvChanges]),
    problems: ['conflict'],
    handler: env.updateEnv,
  }),
])

const deployRoutes = tagged('Deploys', [
  route({
    method: 'GET',
    path: `${v1}/services/{id}/deploys`,
    summary: 'The deploys of a service, the newest first',
    params: ServiceParams,
    query: ListQuery,
    answer: z.array(Deploy),
    handler: deploys.listDeploys,
  }),
  route({
    method: 'POST',
    path: `${v1}/services/{id}/deploys`,
    summary: 'Queues a deploy of the configured source',
    params: ServiceParams,
    body: CreateDeploy,
    answer: Deploy,
    status: 202,
    problems: ['conflict'],
    handler: deploys.createDeploy,
  }),
  route({
    method: 'GET',
    path: `${v1}/deploys/{id}`,
    summary: 'One deploy',
    params: DeployParams,
    answer: Deploy,
    handler: deploys.getDeploy,
  }),
  route({
    method: 'POST',
    path: `${v1}/deploys/{id}/cancel`,
    summary: 'Cancels a queued or running deploy; the live one keeps serving',
    params: DeployParams,
    answer: Deploy,
    problems: ['not_cancelable'],
    handler: deploys.cancelDeploy,
  }),
  route({
    method: 'GET',
    path: `${v1}/deploys/{id}/logs`,
    summary: 'The log of a deploy: `log` for each line, `end` when the deploy has finished',
    params: DeployParams,
    query: DeployLogQuery,
    answer: 'stream',
    handler: deploys.deployLogs,
  }),
  route({
    method: 'GET',
    path: `${v1}/deploys/{id}/history`,
    summary: 'The transitions of a deploy: the first 10 and the last 500',
    params: DeployParams,
    answer: z.array(HistoryEntry),
    handler: deploys.deployHistory,
  }),
])

export const routes: readonly Route[] = [...serverRoutes, ...serviceRoutes, ...envRoutes, ...deployRoutes]
