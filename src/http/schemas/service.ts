// The service: what a client may send, and what it gets (decisions "Service").
// Mind: checks that need more than one field are in service-rules.ts; they see the whole row.
import { posix } from 'node:path'
import { z } from 'zod'
import { Deploy } from './deploy.ts'
import { EnvVars } from './env.ts'
import {
  clearable,
  clearableByZero,
  flag,
  identifier,
  later,
  notOffered,
  optional,
  timestamp,
  unchangeable,
  withDefault,
} from './fields.ts'

export const serviceTypes = [
  'web_service',
  'private_service',
  'background_worker',
  'cron_job',
  'static_site',
] as const
const offeredTypes = ['web_service', 'private_service', 'background_worker'] as const
const laterTypes: readonly unknown[] = ['cron_job', 'static_site']

/** The names that /etc/hosts of a container, or the product itself, already has. */
const reservedNames = new Set([
  'berth',
  'ip6-allnodes',
  'ip6-allrouters',
  'ip6-localhost',
  'ip6-localnet',
  'ip6-loopback',
  'ip6-mcastprefix',
  'localhost',
  'new',
])
const looksLikeId = /^(usr|ses|tok|cli|git|svc|dep|job|dst)-[0-9a-z]{26}$/

const name = z
  .string()
  .regex(/^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$/, {
    error:
      'must be 1 to 40 lower-case letters, digits and dashes, begin with a letter and not end with a dash',
  })
  .refine((text) => !reservedNames.has(text), { error: 'is a reserved word' })
  .refine((text) => !looksLikeId.test(text), { error: 'must not look like an id' })

const type = z.enum(offeredTypes, {
  error: ({ input }) => (laterTypes.includes(input) ? `this type ${notOffered}` : undefined),
})

const plain = /^[^\p{Cc}\\]*$/u
const relativePath = z
  .string()
  .max(512)
  .refine((text) => plain.test(text) && !text.startsWith('/'), { error: 'must be a relative path' })
const path = z
  .string()
  .max(512)
  .refine((text) => text === '' || /^\/[^\s\p{Cc}]*$/u.test(text), {
    error: 'must begin with / and have no blanks',
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

const memoryLimit = z
  .int()
  .min(0)
  .max(1_048_576)
  .refine((mib) => mib === 0 || mib >= 16, { error: 'must be 0 for the default, or at least 16' })
const cpuLimit = z
  .number()
  .min(0)
  .max(512)
  .refine((cpus) => cpus === 0 || cpus >= 0.01, { error: 'must be 0 for the default, or at least 0.01' })
const instances = z.int().min(1).max(50)

function explained<Fields extends Record<string, z.ZodType>>(fields: Fields): Fields {
  const entries = Object.entries(fields).map(([name, field]) => {
    const description = meanings[name]
    return [name, description ? field.meta({ description }) : field]
  })
  return Object.fromEntries(entries)
}

/** What each setting means, and what holds when it is left out: for the OpenAPI document. */
const meanings: Record<string, string> = {
  repo_url:
    'https://, http://, ssh://, git@host:owner/name or an absolute path; user:token@ is kept apart, sealed.',
  branch: 'Without it main.',
  root_dir: 'Where the source is inside the repository; without it the top.',
  dockerfile_path: 'Relative to root_dir; without it Dockerfile.',
  start_command: "Run by sh -c in the container, instead of the image's own command.",
  port: "Where it listens, told to it as PORT. 0: PORT of its env, else the image's exposed port or 3000.",
  health_check_path: 'Must answer 2xx or 3xx; without it a TCP connection is enough.',
  health_check_timeout_seconds: 'Until a new version must pass its check. Without it 300.',
  drain_seconds: 'How long open connections to a former version may go on. Without it 30.',
  instances: '1 to 50, one with a disk. Without it 1.',
  auto_deploy: 'Kept for pushes, which are not offered yet.',
  disk_mount_path:
    'Where the disk of the service is mounted; a new version then starts after the former stopped.',
  memory_limit_mb: 'MiB per instance, from 16; 0 is the server default.',
  cpu_limit: 'CPUs per instance, from 0.01; 0 is the server default.',
}

const settings = explained({
  repo_url: clearable(z.string().max(2048)),
  branch: clearable(z.string().max(255)),
  root_dir: clearable(relativePath),
  dockerfile_path: clearable(relativePath),
  start_command: clearable(
    z
      .string()
      .max(4096)
      .regex(/^[^\0]*$/, { error: 'must not hold a NUL' }),
  ),
  port: clearableByZero(z.int().min(0).max(65_535)),
  health_check_path: clearable(path),
  health_check_timeout_seconds: optional(z.int().min(1).max(3600)),
  drain_seconds: optional(z.int().min(0).max(3600)),
  instances: optional(instances),
  auto_deploy: optional(z.boolean()),
  disk_mount_path: clearable(mountPath),
  memory_limit_mb: clearableByZero(memoryLimit),
  cpu_limit: clearableByZero(cpuLimit).transform((cpus) => (cpus ? Math.round(cpus * 100) / 100 : cpus)),
  image: later,
  build_command: later,
  publish_dir: later,
  watch_paths: later,
  schedule: later,
  timezone: later,
  overlap: later,
  timeout_seconds: later,
  custom_domains: later,
})

export const CreateService = z
  .strictObject({
    name,
    type: withDefault(type, 'web_service').meta({ description: 'Without it web_service.' }),
    ...settings,
    env: optional(EnvVars),
    deploy: withDefault(z.boolean(), true).meta({ description: 'Queue a first deploy. Without it true.' }),
  })
  .meta({ id: 'CreateService' })

export const UpdateService = z
  .strictObject({ name: unchangeable, type: unchangeable, ...settings, suspended: optional(z.boolean()) })
  .meta({ id: 'UpdateService', description: 'Null is as if left out; an empty text, or 0, clears.' })

export const ScaleService = z.strictObject({ instances }).meta({ id: 'ScaleService' })

export type CreateService = z.output<typeof CreateService>
export type UpdateService = z.output<typeof UpdateService>
export type ScaleService = z.output<typeof ScaleService>

export const ServiceParams = z.object({ id: identifier.meta({ description: 'Id or name of a service.' }) })
export type ServiceParams = z.output<typeof ServiceParams>

export const DeleteQuery = z.strictObject({
  force: flag('Delete although other services refer to it.'),
  delete_disk: flag('Delete the disk as well.'),
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
    root_dir: text,
    dockerfile_path: text,
    build_command: text,
    start_command: text,
    publish_dir: text,
    port: whole,
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
    memory_limit_mb: whole.meta({ description: 'MiB; null is the server default.' }),
    cpu_limit: z.number().nullable().meta({ description: 'CPUs; null is the server default.' }),
    custom_domains: z.array(z.string()),
    live_deploy_id: text,
    state: z.enum(serviceStates),
    url: text,
    hosts: z.array(z.string()),
    internal_host: text,
    internal_port: whole,
    latest_deploy: Deploy.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Service' })
export type Service = z.output<typeof Service>
