// The details of a service on one screen.
import type { Service } from '../../api/service.ts'
import { duration } from '../../quantities.ts'
import { age } from '../terminal/ages.ts'
import type { Output } from '../terminal/output.ts'
import { type Fact, printFacts } from '../terminal/table.ts'
import { addressOf, readable, sourceOf, stateStyle } from './labels.ts'

/** Omits unset settings that do not apply to the service. */
export function showService(out: Output, service: Service): void {
  printFacts(out, [
    ['name', service.name, 'bold'],
    ['id', service.id],
    ['type', readable(service.type)],
    ['state', readable(service.state), stateStyle(service.state)],
    ['address', addressOf(service)],
    ['source', sourceOf(service)],
    ...buildFacts(service),
    ...(service.type === 'cron_job' ? scheduleFacts(service) : instanceFacts(service)),
    ...runFacts(service),
    ...edgeFacts(service),
    ['shared network', service.shared_network ? 'on: every service may connect' : null],
    ['created', age(service.created_at)],
    ['updated', age(service.updated_at)],
  ])
}

function buildFacts(service: Service): Fact[] {
  const { root_dir, dockerfile_path, build_env, publish_dir, spa_fallback, latest_deploy } = service
  const { build_target, build_args, submodule_owners } = service
  return [
    ['submodule owners', submodule_owners.join(', ')],
    ['root dir', root_dir],
    ['dockerfile', dockerfile_path],
    ['build env', build_env.join(', ')],
    ['build target', build_target],
    [
      'build args',
      Object.entries(build_args)
        .map(([key, value]) => `${key}=${value}`)
        .join(', '),
    ],
    ['publish dir', publish_dir],
    ['spa fallback', spa_fallback ? 'yes' : null],
    ['live deploy', service.live_deploy_id],
    [
      'last deploy',
      latest_deploy && `${latest_deploy.id} ${latest_deploy.status}, ${age(latest_deploy.created_at)}`,
    ],
  ]
}

/** Only settings that differ from their defaults. */
function edgeFacts({ custom_domains, hsts, request_timeout_seconds, max_body_mb }: Service): Fact[] {
  return [
    ['domains', custom_domains.join(', ')],
    ['hsts', hsts ? 'on' : null],
    ['answer within', request_timeout_seconds === 75 ? null : duration(request_timeout_seconds * 1000)],
    ['body limit', max_body_mb === 512 ? null : `${max_body_mb} MiB`],
  ]
}

/** For a cron job, which listens on no port and has no permanent instances. */
function scheduleFacts({ schedule, timezone, overlap }: Service): Fact[] {
  return [
    ['schedule', schedule],
    ['time zone', timezone ?? 'UTC'],
    ['overlap', overlap ?? 'skip'],
  ]
}

function instanceFacts(service: Service): Fact[] {
  return [
    ['instances', service.suspended ? `${service.instances}, suspended` : String(service.instances)],
    ['port', service.internal_host === null ? null : portOf(service)],
    ['protocol', service.protocol === 'http' ? null : service.protocol],
    ['health check', checkOf(service)],
    ['drain', duration(service.drain_seconds * 1000)],
    ['disk', service.disk_mount_path],
  ]
}

const portSourceLabels = {
  setting: null,
  env: 'PORT of its env',
  image: 'exposed by its image',
  detected: 'detected',
  default: 'the default',
}

function portOf({ port, internal_port, port_source }: Service): string {
  if (port !== null) return String(port)
  const text = port_source && portSourceLabels[port_source]
  return text ? `automatic: ${internal_port}, ${text}` : 'automatic'
}

function checkOf({ health_check, health_check_path, health_check_timeout_seconds }: Service): string | null {
  if (health_check_path)
    return `${health_check_path}, within ${duration(health_check_timeout_seconds * 1000)}`
  return health_check === 'image' ? 'the HEALTHCHECK of its image' : null
}

function runFacts(service: Service): Fact[] {
  const { memory_limit_mb: memory, cpu_limit: cpu } = service
  return [
    ['start command', service.start_command],
    ['init', service.init ? null : 'off'],
    ['before deploy', service.pre_deploy_command],
    ['job limit', jobLimit(service)],
    ['memory', memory === null ? "the server's default" : `${memory} MiB`],
    ['cpu', cpu === null ? "the server's default" : String(cpu)],
  ]
}

/**
 * Every service can have job runs. The default limit is shown only for a cron job, because runs are
 * its purpose.
 */
function jobLimit({ type, timeout_seconds: seconds }: Service): string | null {
  if (seconds !== null) return duration(seconds * 1000)
  return type === 'cron_job' ? 'a day' : null
}
