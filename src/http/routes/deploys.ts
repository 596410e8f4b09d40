// Deploys, and what they leave to read.
import { z } from 'zod'
import {
  CreateDeploy,
  Deploy,
  DeployListQuery,
  DeployLogQuery,
  DeployParams,
  DeploysQuery,
  UploadQuery,
} from '../../api/deploy.ts'
import { LogEvents } from '../../api/feed.ts'
import { ServiceParams } from '../../api/service.ts'
import * as deploys from '../handlers/deploys.ts'
import { archiveUpload, uploadDeploy } from '../handlers/uploads.ts'
import { get, post, tagged } from '../pipeline/route.ts'
import { deployAdvice, findDeploy, readDeploy } from '../records/deploy-record.ts'
import { historyRoute, show, whyRoute } from './record-routes.ts'

export const deployRoutes = tagged('Deploys', [
  get('/deploys', {
    role: 'read',
    scope: 'filtered',
    summary: 'Lists the deploys of all services, newest first',
    description:
      'The deploys of all services, newest first. With selective filters, a page may have fewer entries ' +
      'than `limit`, or none, and still have a next page.',
    query: DeploysQuery,
    response: z.array(Deploy),
    problems: ['not_found'],
    handler: deploys.listAllDeploys,
  }),
  get('/services/{id}/deploys', {
    role: 'read',
    scope: 'service',
    summary: 'Lists the deploys of a service, newest first',
    params: ServiceParams,
    query: DeployListQuery,
    response: z.array(Deploy),
    handler: deploys.listDeploys,
  }),
  post('/services/{id}/deploys', {
    role: 'deploy',
    scope: 'service',
    summary: 'Queues a deploy of the configured source',
    params: ServiceParams,
    body: CreateDeploy,
    response: Deploy,
    status: 202,
    problems: ['conflict'],
    handler: deploys.createDeploy,
  }),
  post('/services/{id}/deploys/upload', {
    role: 'deploy',
    scope: 'service',
    summary: 'Queues a deploy of the uploaded source, which is kept for later deploys until the next upload',
    params: ServiceParams,
    query: UploadQuery,
    upload: archiveUpload,
    response: Deploy,
    status: 202,
    problems: ['conflict'],
    handler: uploadDeploy,
  }),
  get('/deploys/{deploy_id}', {
    role: 'read',
    scope: 'record',
    summary: 'Returns a deploy',
    params: DeployParams,
    response: Deploy,
    handler: show(readDeploy),
  }),
  post('/deploys/{deploy_id}/cancel', {
    role: 'deploy',
    scope: 'record',
    summary: 'Cancels a queued or running deploy; the live one keeps serving',
    params: DeployParams,
    response: Deploy,
    problems: ['not_cancelable'],
    handler: deploys.cancelDeploy,
  }),
  get('/deploys/{deploy_id}/logs', {
    role: 'read',
    scope: 'record',
    summary: 'Streams the log of a deploy: `log` for each line, `end` when the deploy has finished',
    params: DeployParams,
    query: DeployLogQuery,
    response: 'stream',
    events: LogEvents,
    handler: deploys.deployLogs,
  }),
  historyRoute('/deploys/{deploy_id}', {
    scope: 'record',
    params: DeployParams,
    summary: 'Lists the transitions of a deploy: the first 10 and the last 500',
    find: findDeploy,
  }),
  whyRoute('/deploys/{deploy_id}', {
    scope: 'record',
    params: DeployParams,
    summary: 'Explains why a deploy failed, what to do about it, and how long each phase took',
    find: findDeploy,
    advise: (deploy, storage) => deployAdvice(storage, deploy),
    hasLog: true,
  }),
])
