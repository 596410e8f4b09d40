// The service in responses, and the ways to name one in a request. Its settings are in service-settings.ts.
import { z } from 'zod'
import type { SettingName } from '../domain/service-setting.ts'
import { serviceSettings } from '../domain/service-settings.ts'
import { Deploy, healthChecks, portSources } from './deploy.ts'
import { createdAt, flag, id, identifier, name, text, updatedAt, whole } from './parts/fields.ts'

export const serviceTypes = [
  'web_service',
  'private_service',
  'background_worker',
  'cron_job',
  'static_site',
] as const

export const ServiceParams = z.object({ id: identifier.describe('Id or name of the service.') })

export const DeleteQuery = z.strictObject({
  force: flag('Deletes the service even if other services refer to it.'),
  delete_disk: flag('Also deletes the disk. Otherwise it is kept, and GET /disks lists it.'),
  purge: flag(
    'With `delete_disk`: deletes the disk and its data immediately; nothing is moved to the trash.',
  ),
})
export type DeleteQuery = z.output<typeof DeleteQuery>

export const serviceStates = [
  'not_deployed',
  'deploying',
  'live',
  'degraded',
  'failed',
  'suspended',
  'deleting',
] as const

/** Describes settings as the OpenAPI document does. */
export function explained<Fields extends Partial<Record<SettingName, z.ZodType>>>(fields: Fields): Fields {
  const entries = Object.entries(fields).map(([name, field]) => {
    return [name, field.describe(serviceSettings[name as SettingName].meaning)]
  })
  return Object.fromEntries(entries)
}

const settings = explained({
  repo_url: text,
  branch: text,
  image: text,
  submodule_owners: z.array(z.string()),
  root_dir: text,
  dockerfile_path: text,
  start_command: text,
  pre_deploy_command: text,
  build_env: z.array(z.string()),
  build_target: text,
  build_args: z.record(z.string(), z.string()),
  init: z.boolean(),
  publish_dir: text,
  spa_fallback: z.boolean(),
  port: whole,
  protocol: z.enum(['http', 'h2c']),
  health_check_path: text,
  health_check_timeout_seconds: z.int(),
  drain_seconds: z.int(),
  schedule: text,
  timezone: text,
  overlap: z.enum(['skip', 'queue', 'replace']).nullable(),
  timeout_seconds: whole,
  instances: z.int(),
  disk_mount_path: text,
  custom_domains: z.array(z.string()),
  hsts: z.boolean(),
  request_timeout_seconds: z.int(),
  max_body_mb: z.int(),
  shared_network: z.boolean(),
})

export const Service = z
  .object({
    id,
    name,
    type: z
      .enum(serviceTypes)
      .describe(
        '`web_service`: public, over http. `private_service`: for other services only. ' +
          '`background_worker`: no port. `cron_job`: runs on a schedule. `static_site`: files, public, ' +
          'over http.',
      ),
    ...settings,
    build_command: text.describe('Always null. It cannot be set and has no effect.'),
    auto_deploy: z.boolean().describe('Always true. It cannot be set and has no effect.'),
    watch_paths: z.array(z.string()).describe('Always empty. It cannot be set and has no effect.'),
    suspended: z.boolean().describe('Whether the service was stopped on request.'),
    memory_limit_mb: whole.describe('MiB; null for the server default.'),
    cpu_limit: z.number().nullable().describe('CPUs; null for the server default.'),
    live_deploy_id: text.describe('The live deploy; null without one.'),
    state: z
      .enum(serviceStates)
      .describe(
        '`not_deployed`: never deployed. `deploying`: the first deploy is in progress. `live`: a ' +
          'version serves. `degraded`: it serves, but instances are missing or keep crashing. `failed`: ' +
          'nothing serves and the last deploy failed. `suspended`: stopped on request. `deleting`: it is ' +
          'being deleted.',
      ),
    url: text.describe('Public address; null for services that are not public, and without an edge.'),
    hosts: z.array(z.string()).describe('All hosts of the service; empty if it is not public.'),
    internal_host: text.describe('Host name for other services; null without a port.'),
    internal_port: whole.describe('Port for other services.'),
    port_source: z
      .enum(portSources)
      .nullable()
      .describe('Where internal_port comes from; null before the first deploy.'),
    health_check: z.enum(healthChecks).nullable().describe('How the live deploy was checked.'),
    latest_deploy: Deploy.nullable().describe('The newest deploy, in any status; null before the first.'),
    created_at: createdAt,
    updated_at: updatedAt,
    revision: z
      .int()
      .describe(
        'Increases with each change of the settings or the state; `latest_deploy` has its own revision.',
      ),
  })
  .meta({ id: 'Service', description: 'A service with its settings and its state. Unset settings are null.' })
export type Service = z.output<typeof Service>
