// The service in responses, and the ways to name one in a request. Its settings are in service-settings.ts.
import { posix } from 'node:path'
import { z } from 'zod'
import { reservedBuildArgs } from '../domain/reserved-build-args.ts'
import { type SettingName, serviceSettings } from '../domain/service-settings.ts'
import { AutoDeploys, watchPaths } from './auto-deploys.ts'
import { Deploy, healthChecks, portSources } from './deploy.ts'
import { Domain } from './domains.ts'
import { EnvKey, EnvVars, isWithinTotal } from './env.ts'
import { longestRunSeconds } from './job.ts'
import {
  clearable,
  clearableByZero,
  cpuLimit,
  createdAt,
  flag,
  id,
  identifier,
  memoryLimit,
  Name,
  name,
  optional,
  text,
  unchangeable,
  updatedAt,
  whole,
  withDefault,
} from './parts/fields.ts'
import { scheduleText, timeZone } from './schedule.ts'

const serviceTypes = [
  'web_service',
  'private_service',
  'background_worker',
  'cron_job',
  'static_site',
] as const

const builders = ['dockerfile', 'recipe', 'railpack', 'pack'] as const

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

export const serviceState = z
  .enum(serviceStates)
  .describe(
    '`not_deployed`: never deployed. `deploying`: a deploy is in progress. `live`: a version ' +
      'serves. `degraded`: it serves, but instances are missing or keep crashing. `failed`: nothing ' +
      'serves and the last deploy failed. `suspended`: stopped on request. `deleting`: it is being deleted.',
  )

function explained<Fields extends Partial<Record<SettingName, z.ZodType>>>(fields: Fields): Fields {
  const entries = Object.entries(fields).map(([name, field]) => {
    return [name, field.describe(serviceSettings[name as SettingName].meaning)]
  })
  return Object.fromEntries(entries)
}

const deployMoments = ['push', 'checks', 'required_checks'] as const

const shownSettings = explained({
  repo_url: text,
  branch: text,
  image: text,
  use_git_connection: z.boolean(),
  auto_deploy: z.boolean(),
  tag_pattern: text,
  skip_ci: z.boolean(),
  deploy_when: z.enum(deployMoments),
  watch_paths: z.array(z.string()),
  poll_seconds: z.int(),
  submodule_owners: z.array(z.string()),
  root_dir: text,
  dockerfile_path: text,
  builder: z.enum(builders).nullable(),
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
    ...shownSettings,
    auto_deploys: AutoDeploys.describe('What its automatic deploys do at present.'),
    has_deploy_key: z.boolean().describe('Whether it has a deploy key.'),
    suspended: z.boolean().describe('Whether the service was stopped on request.'),
    memory_limit_mb: whole.describe('MiB; null for the server default.'),
    cpu_limit: z.number().nullable().describe('CPUs; null for the server default.'),
    live_deploy_id: text.describe('The live deploy; null without one.'),
    state: serviceState,
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

// The settings of a service that a client may change. Rules about more than one field are in
// src/domain/service-rules.ts, which sees the whole row.

const type = z.enum(serviceTypes)

const plain = /^[^\p{Cc}\\]*$/u
const relativePath = z
  .string()
  .max(512)
  .refine((text) => plain.test(text) && !text.startsWith('/'), { error: 'must be a relative path' })
const path = z
  .string()
  .max(512)
  .refine((text) => text === '' || /^\/[^\s\p{Cc}]*$/u.test(text), {
    error: 'must start with / and not contain blanks',
  })
const mountPath = z
  .string()
  .max(512)
  .refine((text) => text === '' || isMountPath(text), {
    error: 'must be an absolute path other than /, without .. and colons',
  })

function isMountPath(text: string): boolean {
  return (
    plain.test(text) &&
    /^\/[^:]+$/.test(text) &&
    !text.split('/').includes('..') &&
    posix.resolve(text) !== '/'
  )
}

const command = z
  .string()
  .max(4096)
  .regex(/^[^\0]*$/, { error: 'must not contain a NUL' })
const publishDir = z
  .string()
  .max(512)
  .refine((text) => plain.test(text) && !text.split('/').includes('..'), {
    error: 'must be a path without ..',
  })
const buildArgKey = EnvKey.refine((key) => !reservedBuildArgs.has(key), {
  error: ({ input }) => `is a reserved build argument: ${reservedBuildArgs.get(String(input))}`,
})
const buildEnv = z
  .array(buildArgKey)
  .max(256)
  .refine((keys) => new Set(keys).size === keys.length, { error: 'must not contain a key twice' })

const buildTarget = z
  .string()
  .max(128)
  .regex(/^([A-Za-z0-9][A-Za-z0-9_.-]*)?$/, { error: 'must be the name of a stage' })
const buildArgs = z
  .record(
    buildArgKey,
    z
      .string()
      .max(4096)
      .regex(/^[^\0]*$/, { error: 'must not contain a NUL' }),
  )
  .refine((args) => Object.keys(args).length <= 256, { error: 'must not have more than 256' })
  .refine((args) => isWithinTotal(Object.entries(args).map(([key, value]) => ({ key, value }))), {
    error: 'must be at most 512 KiB together',
  })

/** As providers write them, without a path. */
const submoduleOwners = z
  .array(
    z
      .string()
      .max(255)
      .regex(/^[A-Za-z0-9_][\w.~-]*$/, { error: 'must be the name of a user, group or organization' }),
  )
  .max(50)

const customDomains = z.array(Domain).max(50)

const instances = z.int().min(1).max(50)

const givenSettings = explained({
  repo_url: clearable(z.string().max(2048)),
  image: clearable(z.string().max(512)),
  branch: clearable(z.string().max(255)),
  use_git_connection: optional(z.boolean()),
  auto_deploy: optional(z.boolean()),
  tag_pattern: clearable(z.string().max(255)),
  skip_ci: optional(z.boolean()),
  deploy_when: optional(z.enum(deployMoments)),
  watch_paths: optional(watchPaths),
  poll_seconds: optional(z.union([z.literal(0), z.int().min(30).max(86_400)])),
  submodule_owners: optional(submoduleOwners),
  root_dir: clearable(relativePath),
  dockerfile_path: clearable(relativePath),
  builder: z
    .enum([...builders, ''])
    .nullish()
    .transform((name) => (name === '' ? null : (name ?? undefined))),
  build_command: clearable(command),
  start_command: clearable(command),
  pre_deploy_command: clearable(command),
  build_env: optional(buildEnv),
  build_target: clearable(buildTarget),
  build_args: optional(buildArgs),
  init: optional(z.boolean()),
  publish_dir: clearable(publishDir),
  spa_fallback: optional(z.boolean()),
  port: clearableByZero(z.int().min(0).max(65_535)),
  protocol: optional(z.enum(['http', 'h2c'])),
  health_check_path: clearable(path),
  health_check_timeout_seconds: optional(z.int().min(1).max(3600)),
  drain_seconds: optional(z.int().min(0).max(3600)),
  instances: optional(instances),
  disk_mount_path: clearable(mountPath),
  memory_limit_mb: memoryLimit,
  cpu_limit: cpuLimit,
  custom_domains: optional(customDomains),
  hsts: optional(z.boolean()),
  request_timeout_seconds: optional(z.int().min(1).max(3600)),
  max_body_mb: optional(z.int().min(1).max(10_240)),
  shared_network: optional(z.boolean()),
  schedule: scheduleText,
  timezone: timeZone,
  overlap: optional(z.enum(['skip', 'queue', 'replace'])),
  timeout_seconds: clearableByZero(z.int().min(0).max(longestRunSeconds)),
})

export const CreateService = z
  .strictObject({
    name: Name.describe('Unique among services and datastores; part of its hosts.'),
    type: withDefault(type, 'web_service').describe('web_service by default.'),
    ...givenSettings,
    kept_disk: optional(identifier).describe(
      'The disk that a deleted service left, with its files. Needs `disk_mount_path`. By default a new one.',
    ),
    env: optional(EnvVars).describe('Its env variables.'),
    deploy: withDefault(z.boolean(), true).describe('Queues a first deploy. Default true.'),
  })
  .meta({ id: 'CreateService', description: 'A new service.' })

export const UpdateService = z
  .strictObject({
    name: unchangeable,
    type: unchangeable,
    ...givenSettings,
    suspended: optional(z.boolean()).describe(
      'true stops all instances, false starts them again. Takes effect immediately.',
    ),
  })
  .meta({
    id: 'UpdateService',
    description: 'Null counts as omitted; an empty text, or 0, clears the setting.',
  })

export const ScaleService = z
  .strictObject({ instances: instances.describe('The number of instances; 1 for a service with a disk.') })
  .meta({ id: 'ScaleService', description: 'The number of instances of a service.' })

export type CreateService = z.output<typeof CreateService>
export type UpdateService = z.output<typeof UpdateService>
export type ScaleService = z.output<typeof ScaleService>
