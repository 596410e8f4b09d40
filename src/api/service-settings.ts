// What a client may set of a service (decisions "Service"); the record it gets is in service.ts.
// Mind: checks that need more than one field are in service-rules.ts; they see the whole row.
import { posix } from 'node:path'
import { z } from 'zod'
import { Domain } from './domains.ts'
import { EnvKey, EnvVars, isWithinTotal } from './env.ts'
import { longestRunSeconds } from './job.ts'
import { clearable, clearableByZero, optional, unchangeable, withDefault } from './parts/fields.ts'
import { cpuLimit, memoryLimit } from './parts/limits.ts'
import { Name } from './parts/name.ts'
import { scheduleText, timeZone } from './schedule.ts'
import { serviceTypes } from './service.ts'

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

const command = z
  .string()
  .max(4096)
  .regex(/^[^\0]*$/, { error: 'must not hold a NUL' })
const publishDir = z
  .string()
  .max(512)
  .refine((text) => plain.test(text) && !text.split('/').includes('..'), {
    error: 'must be a path without ..',
  })
const buildEnv = z
  .array(EnvKey)
  .max(256)
  .refine((keys) => new Set(keys).size === keys.length, { error: 'must not name a key twice' })

const buildTarget = z
  .string()
  .max(128)
  .regex(/^([A-Za-z0-9][A-Za-z0-9_.-]*)?$/, { error: 'must be the name of a stage' })
const buildArgs = z
  .record(
    EnvKey,
    z
      .string()
      .max(4096)
      .regex(/^[^\0]*$/, { error: 'must not hold a NUL' }),
  )
  .refine((args) => Object.keys(args).length <= 256, { error: 'must not have more than 256' })
  .refine((args) => isWithinTotal(Object.entries(args).map(([key, value]) => ({ key, value }))), {
    error: 'must be at most 512 KiB together',
  })

const customDomains = z.array(Domain).max(50)

const instances = z.int().min(1).max(50)

function explained<Fields extends Record<string, z.ZodType>>(fields: Fields): Fields {
  const entries = Object.entries(fields).map(([name, field]) => {
    const description = settingMeanings[name]
    return [name, description ? field.meta({ description }) : field]
  })
  return Object.fromEntries(entries)
}

/** What each setting means, and what holds when it is left out: for the OpenAPI document. */
export const settingMeanings: Readonly<Record<string, string>> = {
  repo_url:
    'https://, http://, ssh://, git@host:owner/name or an absolute path; user:token@ is kept apart, sealed.' +
    ' A path must be readable by every user of the host, or lie below --local-repositories.',
  image: 'An image to pull instead of a repository to build; its tag is resolved anew at each deploy.',
  branch:
    'Without it the default branch of the repository, as it is at the next deploy; that is kept until ' +
    'repo_url changes.',
  root_dir: 'Where the source is inside the repository; without it the top.',
  dockerfile_path: 'Relative to root_dir; without it Dockerfile.',
  start_command: "Run by sh -c in the container, instead of the image's own command.",
  pre_deploy_command:
    'Run once by sh -c in the new image, before anything of it starts; a failure fails the deploy. No disk.',
  build_env: 'Keys of env variables that a build gets as arguments. All of them can be mounted as secrets.',
  build_target: "The name of the Dockerfile's stage to build; without it the last one.",
  build_args:
    'Build arguments with their values, which the history of the image shows: not for secrets. They ' +
    'replace all former ones and come before those of build_env; {} clears. 512 KiB together.',
  init:
    'An init process is process 1: it passes signals on and ends orphans. Without it true. An image whose ' +
    'entrypoint is one itself (/init, tini, dumb-init, systemd) never gets another.',
  publish_dir: 'What a static site serves: a folder below root_dir or, with a Dockerfile, of its last stage.',
  spa_fallback: 'A static site answers unknown paths with its index.html. Without it false.',
  port:
    "Where it listens, told to it as PORT. 0: PORT of its env, else the image's one exposed port, else " +
    '3000 or the only port that it listens on.',
  health_check_path:
    'Must answer 2xx or 3xx; without it the HEALTHCHECK of the image, or a TCP connection, is enough.',
  health_check_timeout_seconds: 'Until a new version must pass its check. Without it 300.',
  drain_seconds: 'How long open connections to a former version may go on. Without it 30.',
  instances: '1 to 50, one with a disk. Without it 1.',
  disk_mount_path:
    'Where the disk of the service is mounted; a new version then starts after the former stopped.',
  memory_limit_mb: 'MiB per instance, from 16; 0 is the server default.',
  cpu_limit: 'CPUs per instance, from 0.01; 0 is the server default.',
  custom_domains:
    "Hosts of its own beside NAME.<base domain>, at most 50; each is one service's alone. At once.",
  hsts: 'Browsers that came by HTTPS are told to come by nothing else. At once. Without it false.',
  request_timeout_seconds:
    'How long an answer may stay silent before it is given up. At once. Without it 75.',
  max_body_mb: "MiB of a request's body, by its Content-Length. At once. Without it 512.",
  shared_network:
    'Every service may connect to it; else only those whose env refers to it. At once. By default false.',
  schedule: 'When a cron job runs: five fields of cron, or a word such as @daily. At once.',
  timezone: 'Of the schedule, as Europe/Berlin. At once. Without it UTC.',
  overlap:
    'What a cron job does when it is due while it still runs: skip, queue or replace. Without it skip.',
  timeout_seconds:
    'After so many seconds a job run is ended, and has failed; 0 is the default of 86400 (a day).',
}

const settings = explained({
  repo_url: clearable(z.string().max(2048)),
  image: clearable(z.string().max(512)),
  branch: clearable(z.string().max(255)),
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
    name: Name,
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
