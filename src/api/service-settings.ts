// The settings of a service that a client may change. Rules about more than one field are in
// src/http/rules/service-rules.ts, which sees the whole row.
import { posix } from 'node:path'
import { z } from 'zod'
import { reservedBuildArgs } from '../domain/reserved-build-args.ts'
import { Domain } from './domains.ts'
import { EnvKey, EnvVars, isWithinTotal } from './env.ts'
import { longestRunSeconds } from './job.ts'
import { clearable, clearableByZero, optional, unchangeable, withDefault } from './parts/fields.ts'
import { cpuLimit, memoryLimit } from './parts/limits.ts'
import { Name } from './parts/name.ts'
import { scheduleText, timeZone } from './schedule.ts'
import { explained, serviceTypes } from './service.ts'

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

const settings = explained({
  repo_url: clearable(z.string().max(2048)),
  image: clearable(z.string().max(512)),
  branch: clearable(z.string().max(255)),
  submodule_owners: optional(submoduleOwners),
  root_dir: clearable(relativePath),
  dockerfile_path: clearable(relativePath),
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
    ...settings,
    env: optional(EnvVars).describe('Its env variables.'),
    deploy: withDefault(z.boolean(), true).describe('Queues a first deploy. Default true.'),
  })
  .meta({ id: 'CreateService', description: 'A new service.' })

export const UpdateService = z
  .strictObject({
    name: unchangeable,
    type: unchangeable,
    ...settings,
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
