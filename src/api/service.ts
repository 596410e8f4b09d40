// The service in responses, and the ways to name one in a request. Its settings are in service-settings.ts.
import { z } from 'zod'
import { Deploy, healthChecks, portSources } from './deploy.ts'
import { flag, identifier, timestamp } from './parts/fields.ts'

export const serviceTypes = [
  'web_service',
  'private_service',
  'background_worker',
  'cron_job',
  'static_site',
] as const

export const ServiceParams = z.object({ id: identifier.meta({ description: 'Id or name of the service.' }) })
export type ServiceParams = z.output<typeof ServiceParams>

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

const text = z.string().nullable()
const whole = z.int().nullable()

export const Service = z
  .object({
    id: z.string(),
    name: z.string(),
    type: z.enum(serviceTypes),
    repo_url: text,
    branch: text,
    image: text,
    submodule_owners: z.array(z.string()),
    root_dir: text,
    dockerfile_path: text,
    build_command: text,
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
    auto_deploy: z.boolean(),
    watch_paths: z.array(z.string()),
    suspended: z.boolean(),
    disk_mount_path: text,
    memory_limit_mb: whole.meta({ description: 'MiB; null for the server default.' }),
    cpu_limit: z.number().nullable().meta({ description: 'CPUs; null for the server default.' }),
    custom_domains: z.array(z.string()),
    hsts: z.boolean(),
    request_timeout_seconds: z.int(),
    max_body_mb: z.int(),
    shared_network: z.boolean(),
    live_deploy_id: text,
    state: z.enum(serviceStates),
    url: text.meta({
      description: 'Public address; null for services that are not public, and without an edge.',
    }),
    hosts: z.array(z.string()),
    internal_host: text,
    internal_port: whole,
    port_source: z
      .enum(portSources)
      .nullable()
      .meta({ description: 'Where internal_port comes from; null before the first deploy.' }),
    health_check: z.enum(healthChecks).nullable().meta({ description: 'How the live deploy was checked.' }),
    latest_deploy: Deploy.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
    revision: z.int().meta({
      description:
        'Increases with each change of the settings or the state; `latest_deploy` has its own revision.',
    }),
  })
  .meta({ id: 'Service' })
export type Service = z.output<typeof Service>
