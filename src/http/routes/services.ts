// Services: the desired state that a person sets.
import { z } from 'zod'
import { Deploy, Rollback } from '../../api/deploy.ts'
import { ServiceLogEvents } from '../../api/feed.ts'
import { DeleteQuery, Service, ServiceParams } from '../../api/service.ts'
import { CreateService, ScaleService, UpdateService } from '../../api/service-settings.ts'
import { ServiceLogQuery, ServiceStatus } from '../../api/status.ts'
import * as deploys from '../handlers/deploys.ts'
import * as services from '../handlers/services.ts'
import { del, get, patch, post, tagged } from '../pipeline/route.ts'
import { envBodyLimitBytes } from '../pipeline/validation.ts'

export const serviceRoutes = tagged('Services', [
  get('/services', {
    role: 'read',
    scope: 'filtered',
    summary: 'Lists all services, by name',
    response: z.array(Service),
    handler: services.listServices,
  }),
  post('/services', {
    summary: 'Creates a service and, with a repository or an image, queues its first deploy',
    body: CreateService,
    bodyLimitBytes: envBodyLimitBytes,
    response: Service,
    status: 201,
    problems: ['name_taken', 'conflict'],
    handler: services.createService,
  }),
  get('/services/{id}', {
    role: 'read',
    scope: 'service',
    summary: 'Returns a service',
    params: ServiceParams,
    response: Service,
    handler: services.getService,
  }),
  patch('/services/{id}', {
    summary:
      'Changes settings. Instances, suspended, domains and edge settings take effect ' +
      'immediately, the rest with ' +
      'the next deploy or restart',
    params: ServiceParams,
    body: UpdateService,
    response: Service,
    problems: ['conflict'],
    handler: services.updateService,
  }),
  del('/services/{id}', {
    summary: 'Deletes a service; its disk is kept unless the query says otherwise',
    params: ServiceParams,
    query: DeleteQuery,
    problems: ['conflict', 'in_use'],
    handler: services.deleteService,
  }),
  get('/services/{id}/status', {
    role: 'read',
    scope: 'service',
    summary: 'Returns the current instances of a service',
    params: ServiceParams,
    response: ServiceStatus,
    problems: ['docker_error', 'docker_unavailable'],
    handler: services.serviceStatus,
  }),
  get('/services/{id}/logs', {
    role: 'read',
    scope: 'service',
    summary:
      'Streams the output of the instances, or with `access` their requests: `log` for each line, `end` ' +
      'after the last one, unless the log is followed',
    params: ServiceParams,
    query: ServiceLogQuery,
    response: 'stream',
    events: ServiceLogEvents,
    handler: services.serviceLogs,
  }),
  post('/services/{id}/restart', {
    role: 'deploy',
    scope: 'service',
    summary: 'Restarts the live image with the current settings and env',
    params: ServiceParams,
    response: Deploy,
    status: 202,
    problems: ['conflict'],
    handler: services.restartService,
  }),
  post('/services/{id}/rollback', {
    role: 'deploy',
    scope: 'service',
    summary: 'Rolls back to the image, settings and env of an earlier deploy',
    params: ServiceParams,
    body: Rollback,
    response: Deploy,
    status: 202,
    problems: ['conflict'],
    handler: deploys.rollbackService,
  }),
  post('/services/{id}/suspend', {
    role: 'deploy',
    scope: 'service',
    summary: 'Stops all instances until the service is resumed',
    params: ServiceParams,
    response: Service,
    problems: ['conflict'],
    handler: services.suspendService,
  }),
  post('/services/{id}/resume', {
    role: 'deploy',
    scope: 'service',
    summary: 'Starts the instances of a suspended service',
    params: ServiceParams,
    response: Service,
    problems: ['conflict'],
    handler: services.resumeService,
  }),
  post('/services/{id}/scale', {
    role: 'deploy',
    scope: 'service',
    summary: 'Sets the number of instances, effective immediately',
    params: ServiceParams,
    body: ScaleService,
    response: Service,
    problems: ['conflict'],
    handler: services.scaleService,
  }),
])
