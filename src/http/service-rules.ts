// From a request to a row, and the rules that need more than one field (decisions "Service").
// Mind: a PATCH is judged by the whole row it would make, not by the fields it names.
import { posix } from 'node:path'
import type { ServiceRow } from '../../storage/services.ts'
import { Failure, type FailureDetail } from '../errors.ts'
import type { CreateService, UpdateService } from './schemas/service.ts'

const defaultBranch = 'main'

/** The row of a new service. `repo_url` is the one without credentials. */
export function newRow(
  body: CreateService,
  made: { id: string; at: string; repoUrl: string | null; branch: string | null },
): ServiceRow {
  const { name, type, port, memory_limit_mb, cpu_limit } = body
  return {
    id: made.id,
    name,
    type,
    repo_url: made.repoUrl,
    branch: made.branch ?? defaultBranch,
    image: null,
    root_dir: normalPath(body.root_dir) ?? null,
    dockerfile_path: normalPath(body.dockerfile_path) ?? null,
    build_command: null,
    start_command: body.start_command ?? null,
    publish_dir: null,
    port: port ?? null,
    health_check_path: body.health_check_path ?? null,
    health_check_timeout_seconds: body.health_check_timeout_seconds ?? 300,
    drain_seconds: body.drain_seconds ?? 30,
    schedule: null,
    timezone: null,
    overlap: null,
    timeout_seconds: null,
    instances: body.instances ?? 1,
    auto_deploy: body.auto_deploy ?? true,
    watch_paths: [],
    suspended: false,
    disk_mount_path: body.disk_mount_path ?? null,
    memory_limit_mb: memory_limit_mb ?? null,
    cpu_limit: cpu_limit ?? null,
    custom_domains: [],
    live_deploy_id: null,
    desired_deploy_id: null,
    degraded: false,
    deleting: false,
    created_at: made.at,
    updated_at: made.at,
    revision: 1,
  }
}

/** The row with the fields that a PATCH names. */
export function changedRow(
  row: ServiceRow,
  body: UpdateService,
  made: { at: string; repoUrl: string | null | undefined; branch: string | null | undefined },
): ServiceRow {
  const { name, type, repo_url, branch, root_dir, dockerfile_path, ...rest } = body
  const fields = {
    ...rest,
    repo_url: made.repoUrl,
    branch: made.branch === null ? defaultBranch : made.branch,
    root_dir: normalPath(root_dir),
    dockerfile_path: normalPath(dockerfile_path),
  }
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  return { ...row, ...given, updated_at: made.at }
}

/** Throws `invalid_request` naming every rule the row would break. */
export function checkRow(row: ServiceRow): void {
  const details = [...brokenRules(row)]
  const [first] = details
  if (first) throw new Failure('invalid_request', `${first.path}: ${first.message}`, undefined, details)
}

function* brokenRules(row: ServiceRow): Iterable<FailureDetail> {
  if (row.health_check_path !== null && row.type === 'background_worker') {
    yield broken('health_check_path', 'a background worker has no address to check')
  }
  if (row.disk_mount_path !== null && row.instances > 1) {
    yield broken('instances', 'a service with a disk has exactly one instance')
  }
  if (row.root_dir !== null && climbs(row.root_dir)) yield broken('root_dir', 'must not leave the repository')
  if (row.dockerfile_path !== null && climbs(posix.join(row.root_dir ?? '', row.dockerfile_path))) {
    yield broken('dockerfile_path', 'must not leave the repository')
  }
}

function broken(path: string, message: string): FailureDetail {
  return { path, code: 'invalid', message }
}

function climbs(path: string): boolean {
  return posix.normalize(path).split('/')[0] === '..'
}

/** Without needless parts; the top of the repository is null, as when nothing is set. */
function normalPath(path: string | null | undefined): string | null | undefined {
  if (path === null || path === undefined) return path
  const normal = posix.normalize(path).replace(/\/$/, '')
  return normal === '.' ? null : normal
}
