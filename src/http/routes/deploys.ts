// Deploys, and what they leave to read.
import { z } from 'zod'
import * as deploys from '../handlers/deploys.ts'
import { archiveUpload, uploadDeploy } from '../handlers/uploads.ts'
import { route, tagged, v1 } from '../route.ts'
import {
  CreateDeploy,
  Deploy,
  DeployLogQuery,
  DeployParams,
  HistoryEntry,
  ListQuery,
  UploadQuery,
} from '../schemas/deploy.ts'
import { ServiceParams } from '../schemas/service.ts'

export const deployRoutes = tagged('Deploys', [
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
    method: 'POST',
    path: `${v1}/services/{id}/deploys/upload`,
    summary: 'Queues a deploy of the uploaded source; it is kept for later deploys until the next upload',
    params: ServiceParams,
    query: UploadQuery,
    upload: archiveUpload,
    answer: Deploy,
    status: 202,
    problems: ['conflict'],
    handler: uploadDeploy,
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
