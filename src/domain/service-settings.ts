// The settings of a service. The schemas of the values are in src/api/service.ts.
import { posix } from 'node:path'
import type { ServiceRow, ServiceSettings, ServiceType } from '../../storage/services.ts'
import { defaultPollSeconds } from './auto-deploys.ts'
import { normalizeDomain } from './domains.ts'
import { listens } from './service-types.ts'

/** Fields that have their own commands. */
export const unsettableNames = ['type', 'suspended'] as const
/** Those of the service itself, which no release freezes. */
type OwnSettingName =
  | 'auto_deploy'
  | 'deploy_when'
  | 'poll_seconds'
  | 'shared_network'
  | 'skip_ci'
  | 'tag_pattern'
  | 'use_git_connection'
  | 'watch_paths'
export type SettingName = Exclude<keyof ServiceSettings, (typeof unsettableNames)[number]> | OwnSettingName

export interface Setting<Value = unknown> {
  /** Stored when the setting is omitted or cleared. */
  default: Value
  /** A restart reruns the live image. A build setting takes effect at the next build or pull. */
  takesEffect: 'immediately' | 'at restart' | 'at build'
  /** The description in the OpenAPI document. */
  meaning: string
  /** Null for a setting with its own command. */
  flag: Flag | null
  /** The error message for service types without this setting; null for types with it. */
  refusal?: (type: ServiceType) => string | null
  /** Converts a value to its stored form. */
  normalize?: (value: NonNullable<Value>) => Value
}

export interface Flag {
  /** `--repo <url>` */
  flags: string
  help: string
  /** The type of the text; undefined means plain text. */
  value?: 'whole number' | 'mebibytes' | 'seconds' | 'number' | 'on or off' | 'list' | 'pairs'
}

const onlyCronJobs = only((type) => type === 'cron_job', 'only cron jobs have it')
const onlySites = only(
  (type) => type === 'static_site' || type === 'web_service',
  'only static sites and web services have it',
)
const onlyPublic = only(
  (type) => type === 'web_service' || type === 'static_site',
  'only web services and static sites are reachable from outside',
)
const notSites = only(
  (type) => type !== 'static_site',
  'a static site does not have this setting: Berth serves it with its own server',
)
const onlyListening = (type: ServiceType) =>
  listens({ type }) ? null : `a ${type.replace('_', ' ')} has no port`
const noDiskOfCronJobs = only((type) => type !== 'cron_job', 'a cron job has no disk')

function only(has: (type: ServiceType) => boolean, refusal: string) {
  return (type: ServiceType) => (has(type) ? null : refusal)
}

type Stored<Name extends SettingName> = Exclude<ServiceRow[Name], undefined>

export const serviceSettings: { [Name in SettingName]: Setting<Stored<Name>> } = {
  repo_url: {
    default: null,
    takesEffect: 'at build',
    meaning:
      'https://, http://, ssh://, git@host:owner/name or an absolute path. user:token@ is stored ' +
      'separately, encrypted. A path must be readable by every user of the host, or be below ' +
      '--local-repositories.',
    flag: { flags: '--repo <url>', help: 'git repository to build' },
  },
  image: {
    default: null,
    takesEffect: 'at build',
    meaning: 'An image to pull instead of a repository to build; its tag is resolved at each deploy.',
    flag: { flags: '--image <name>', help: 'image to pull instead' },
    refusal: notSites,
  },
  branch: {
    default: null,
    takesEffect: 'at build',
    meaning:
      'By default the default branch of the repository at the next deploy. It is then kept until ' +
      'repo_url changes.',
    flag: { flags: '--branch <name>', help: 'branch of the repository (its default one)' },
  },
  use_git_connection: {
    default: true,
    takesEffect: 'at build',
    meaning:
      'Whether a git connection may serve the repository. Deleting the connection with `force` turns it ' +
      'off, and a new repo_url turns it on. Default true.',
    flag: {
      flags: '--git-connection <on|off>',
      help: 'read the repository with a git connection (on)',
      value: 'on or off',
    },
  },
  auto_deploy: {
    default: true,
    takesEffect: 'immediately',
    meaning:
      'Deploys each new head of the branch, or each new image of the tag. Default true for a repository, ' +
      'false for an image. A rollback pauses it; true resumes it. Takes effect immediately.',
    flag: {
      flags: '--auto-deploy <on|off>',
      help: 'deploy each push to the branch (on), or each new image of the tag (off)',
      value: 'on or off',
    },
  },
  deploy_when: {
    default: 'push',
    takesEffect: 'immediately',
    meaning:
      '`push`: a new head is deployed at once. `checks`: once the checks of its commit at the git provider ' +
      'have passed, or after a minute without any; this needs a git connection. `required_checks`: the ' +
      'same, but not without checks. Takes effect immediately. Default push.',
    flag: {
      flags: '--deploy-when <when>',
      help: 'deploy each push at once, or after its checks: push, checks or required_checks (push)',
    },
  },
  tag_pattern: {
    default: null,
    takesEffect: 'immediately',
    meaning:
      'Deploys follow the highest version among the tags that match this pattern, such as `v*`, instead of ' +
      'the branch; releases come before pre-releases. Takes effect immediately.',
    flag: {
      flags: '--tags <pattern>',
      help: 'deploy the highest of tags like v*, not the head of the branch',
    },
  },
  skip_ci: {
    default: false,
    takesEffect: 'immediately',
    meaning:
      'Whether a head with `[skip ci]` or `[ci skip]` in its message is not deployed automatically, as ' +
      'with `[skip deploy]`. Takes effect immediately. Default false.',
    flag: {
      flags: '--skip-ci <on|off>',
      help: 'obey [skip ci] in messages like [skip deploy] (off)',
      value: 'on or off',
    },
  },
  watch_paths: {
    default: [],
    takesEffect: 'immediately',
    meaning:
      'Paths from the top of the repository, as in .gitignore: only a push that changes one of them is ' +
      'deployed automatically. A ! before a path leaves it out. Takes effect immediately. Default all.',
    flag: {
      flags: '--watch-path <pattern>',
      help: 'path whose changes are deployed automatically; can be repeated',
      value: 'list',
    },
  },
  poll_seconds: {
    default: defaultPollSeconds,
    takesEffect: 'immediately',
    meaning:
      'How often automatic deploys look at the source in addition to pushes, from 30; 0 for never. Takes ' +
      `effect immediately. Default ${defaultPollSeconds}.`,
    flag: {
      flags: '--poll <seconds>',
      help: `how often to look for a new head or image (${defaultPollSeconds}); 0 for never`,
      value: 'seconds',
    },
  },
  submodule_owners: {
    default: [],
    takesEffect: 'at build',
    meaning:
      'Users, groups or organizations of the same git host whose repositories are read as submodules with ' +
      "the credentials of this service. Those of the repository's own owner always are.",
    flag: {
      flags: '--submodule-owner <name>',
      help: 'other owner whose submodules get the credentials; can be repeated',
      value: 'list',
    },
    normalize: (owners) => [...new Set(owners.map((owner) => owner.toLowerCase()))],
  },
  root_dir: {
    default: null,
    takesEffect: 'at build',
    meaning: 'Folder of the source inside the repository; the root by default.',
    flag: { flags: '--root-dir <path>', help: 'folder of the source inside the repository' },
    normalize: normalPath,
  },
  dockerfile_path: {
    default: null,
    takesEffect: 'at build',
    meaning: 'Relative to root_dir; Dockerfile by default.',
    flag: { flags: '--dockerfile <path>', help: 'relative to the root dir (Dockerfile)' },
    normalize: normalPath,
  },
  builder: {
    default: null,
    takesEffect: 'at build',
    meaning:
      'dockerfile builds the Dockerfile of the source, recipe builds one that Berth writes for it. By ' +
      'default the Dockerfile if there is one, else a recipe, unless the live version had a Dockerfile. ' +
      'railpack and pack are programs that must be on the host.',
    flag: { flags: '--builder <name>', help: 'dockerfile, recipe, railpack or pack' },
  },
  build_command: {
    default: null,
    takesEffect: 'at build',
    meaning: 'Command that a recipe runs to build the source, instead of what it found.',
    flag: { flags: '--build-command <command>', help: 'command of a build without a Dockerfile' },
  },
  start_command: {
    default: null,
    takesEffect: 'at restart',
    meaning: "Command for sh -c in the container, instead of the image's own command.",
    flag: { flags: '--start-command <command>', help: "command instead of the image's own" },
    refusal: notSites,
  },
  pre_deploy_command: {
    default: null,
    takesEffect: 'at restart',
    meaning:
      'Command for sh -c that runs once in the new image, before its instances start. If it fails, the ' +
      'deploy fails. The disk is not mounted.',
    flag: {
      flags: '--pre-deploy-command <command>',
      help: 'command to run once before a new version starts, such as migrations',
    },
    refusal: notSites,
  },
  build_env: {
    default: [],
    takesEffect: 'at build',
    meaning:
      'Keys of env variables that are passed as build arguments. Every variable can be mounted as a secret.',
    flag: {
      flags: '--build-env <key>',
      help: 'variable to pass as a build argument; can be repeated',
      value: 'list',
    },
  },
  build_target: {
    default: null,
    takesEffect: 'at build',
    meaning: 'Stage of the Dockerfile to build; the last one by default.',
    flag: { flags: '--build-target <stage>', help: 'stage of the Dockerfile to build (the last one)' },
  },
  build_args: {
    default: {},
    takesEffect: 'at build',
    meaning:
      'Build arguments with their values, which are visible in the image history: not for secrets. They ' +
      'replace all previous arguments and take precedence over build_env; {} clears them. At most 512 KiB ' +
      'in total.',
    flag: {
      flags: '--build-arg <KEY=value>',
      help: "build argument, not for secrets; can be repeated, '' clears all",
      value: 'pairs',
    },
  },
  init: {
    default: true,
    takesEffect: 'at restart',
    meaning:
      'Runs an init process as PID 1, which forwards signals and reaps orphans. Default true. An image ' +
      'whose entrypoint is an init process (/init, tini, dumb-init, systemd) never gets another one.',
    flag: {
      flags: '--init <on|off>',
      help: 'run an init process as PID 1 of instances and jobs (on)',
      value: 'on or off',
    },
  },
  publish_dir: {
    default: null,
    takesEffect: 'at build',
    meaning:
      'Folder of pages to serve: of a static site below root_dir or, with a Dockerfile, in the last stage; ' +
      'of a build by a recipe, what that build makes.',
    flag: { flags: '--publish-dir <path>', help: 'folder of pages to serve' },
    refusal: onlySites,
    // It may be absolute. `.` is a valid folder: the WORKDIR of an image.
    normalize: (path) => posix.normalize(path).replace(/(?<=.)\/$/, ''),
  },
  spa_fallback: {
    default: false,
    takesEffect: 'at restart',
    meaning: 'Whether pages without a server of their own serve index.html for unknown paths. Default false.',
    flag: { flags: '--spa-fallback', help: 'serve index.html for unknown paths of a site' },
    refusal: onlySites,
  },
  port: {
    default: null,
    takesEffect: 'at restart',
    meaning:
      "Port of the app, passed to it as PORT. 0 detects it: PORT of its env, else the image's only exposed " +
      'port, else 3000 or the only port that the app listens on.',
    flag: { flags: '--port <number>', help: 'port of the app; 0 detects it', value: 'whole number' },
  },
  protocol: {
    default: 'http',
    takesEffect: 'at restart',
    meaning:
      'What the app speaks: http is HTTP/1.1, h2c is HTTP/2 without TLS, as gRPC servers need it. The ' +
      'health check speaks it too. Default http.',
    flag: {
      flags: '--protocol <name>',
      help: 'what the app speaks: http, or h2c for gRPC and HTTP/2 (http)',
    },
    refusal: (type) => notSites(type) ?? onlyListening(type),
  },
  health_check_path: {
    default: null,
    takesEffect: 'at restart',
    meaning:
      'Path that must return 2xx or 3xx. By default the HEALTHCHECK of the image, or a TCP connection.',
    flag: { flags: '--health-path <path>', help: 'path that must return 2xx or 3xx' },
    refusal: onlyListening,
  },
  health_check_timeout_seconds: {
    default: 300,
    takesEffect: 'at restart',
    meaning: 'Time in which a new version must pass its health check. Default 300.',
    flag: {
      flags: '--health-timeout <seconds>',
      help: 'time for a new version to pass its health check (300)',
      value: 'seconds',
    },
  },
  drain_seconds: {
    default: 30,
    takesEffect: 'at restart',
    meaning: 'How long open connections to a previous version may stay open. Default 30.',
    flag: {
      flags: '--drain <seconds>',
      help: 'time for open connections to a previous version (30)',
      value: 'seconds',
    },
  },
  instances: {
    default: 1,
    takesEffect: 'immediately',
    meaning: '1 to 50; 1 with a disk. Default 1.',
    flag: { flags: '--instances <number>', help: 'number of instances (1)', value: 'whole number' },
  },
  disk_mount_path: {
    default: null,
    takesEffect: 'at restart',
    meaning:
      'Mount path of the disk. With a disk, a new version starts only after the previous one has stopped.',
    flag: { flags: '--disk <path>', help: 'mount path of its disk' },
    refusal: (type) => notSites(type) ?? noDiskOfCronJobs(type),
  },
  memory_limit_mb: {
    default: null,
    takesEffect: 'at restart',
    meaning: 'MiB per instance, from 16; 0 is the server default.',
    flag: { flags: '--memory <mib>', help: 'memory limit per instance, also as 1g', value: 'mebibytes' },
  },
  cpu_limit: {
    default: null,
    takesEffect: 'at restart',
    meaning: 'CPUs per instance, from 0.01; 0 is the server default.',
    flag: { flags: '--cpu <number>', help: 'CPUs per instance', value: 'number' },
  },
  custom_domains: {
    default: [],
    takesEffect: 'immediately',
    meaning:
      'Hosts in addition to NAME.<base domain>, at most 50. A host belongs to one service only. ' +
      'Takes effect immediately.',
    flag: null,
    refusal: onlyPublic,
    // Removes duplicates and keeps the order. Throws `invalid_request`.
    normalize: (domains) => [...new Set(domains.map(normalizeDomain))],
  },
  hsts: {
    default: false,
    takesEffect: 'immediately',
    meaning:
      'Sends Strict-Transport-Security over HTTPS: browsers then use only HTTPS. Takes effect ' +
      'immediately. Default false.',
    flag: { flags: '--hsts <on|off>', help: 'make browsers use only HTTPS (off)', value: 'on or off' },
    refusal: onlyPublic,
  },
  request_timeout_seconds: {
    default: 75,
    takesEffect: 'immediately',
    meaning:
      'How long a response may send no data before it is aborted. Takes effect immediately. Default 75.',
    flag: {
      flags: '--request-timeout <seconds>',
      help: 'how long a response may send no data (75)',
      value: 'seconds',
    },
    refusal: onlyPublic,
  },
  max_body_mb: {
    default: 512,
    takesEffect: 'immediately',
    meaning: 'Maximum Content-Length of a request, in MiB. Takes effect immediately. Default 512.',
    flag: { flags: '--max-body <mib>', help: 'maximum size of a request body (512)', value: 'mebibytes' },
    refusal: onlyPublic,
  },
  shared_network: {
    default: false,
    takesEffect: 'immediately',
    meaning:
      'Allows every service to connect. Otherwise only services whose env refers to this one. ' +
      'Takes effect immediately. Default false.',
    flag: {
      flags: '--shared-network <on|off>',
      help: 'allow all services to connect (off)',
      value: 'on or off',
    },
  },
  schedule: {
    default: null,
    takesEffect: 'immediately',
    meaning: 'When a cron job runs: five cron fields, or a keyword such as @daily. Takes effect immediately.',
    flag: { flags: '--schedule <cron>', help: "when a cron job runs: '0 3 * * *', @daily" },
    refusal: onlyCronJobs,
  },
  timezone: {
    default: null,
    takesEffect: 'immediately',
    meaning: 'Time zone of the schedule, such as Europe/Berlin. Takes effect immediately. Default UTC.',
    flag: { flags: '--timezone <zone>', help: 'time zone of the schedule, such as Europe/Berlin (UTC)' },
    refusal: onlyCronJobs,
  },
  overlap: {
    default: null,
    takesEffect: 'immediately',
    meaning: 'What happens when a run is due during another run: skip, queue or replace. Default skip.',
    flag: {
      flags: '--overlap <policy>',
      help: 'when a run is due during another: skip, queue or replace (skip)',
    },
    refusal: onlyCronJobs,
  },
  timeout_seconds: {
    default: null,
    takesEffect: 'immediately',
    meaning: 'Seconds after which a job run is stopped and fails; 0 is the default of 86400 (a day).',
    flag: { flags: '--job-timeout <seconds>', help: 'time limit of job runs (a day)', value: 'seconds' },
    refusal: notSites,
  },
}

export const settingNames = Object.keys(serviceSettings) as SettingName[]

/** The part of a service that a deploy freezes. */
export function settingsOf(service: ServiceRow): ServiceSettings {
  const names: ReadonlySet<string> = new Set([...settingNames, ...unsettableNames])
  const settings = Object.entries(service).filter(([name]) => names.has(name))
  return Object.fromEntries(settings) as ServiceSettings
}

/** The normalized path. Null for the root of the repository, as for an unset path. */
function normalPath(path: string): string | null {
  const normal = posix.normalize(path).replace(/\/$/, '')
  return normal === '.' ? null : normal
}
