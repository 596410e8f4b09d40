// From a request to a row, and the rules that need more than one field (decisions "Service").
// Mind: a PATCH is judged by the whole row it would make, not by the fields it names.
import { posix } from 'node:path'
import type { ServiceRow } from '../../../storage/services.ts'
import type { CreateService, UpdateService } from '../../api/service-settings.ts'
import { customDomainLimit, isPublicType, normalizeDomain } from '../../domain/domains.ts'
import { listens } from '../../domain/service-types.ts'
import { Failure, type FailureDetail } from '../../errors.ts'

/** What the edge does for a service that says nothing of it. */
const atEdge = { hsts: false, request_timeout_seconds: 75, max_body_mb: 512 }

/** What parsing made of a body: undefined is left out, null is cleared. `repoUrl` holds no credentials. */
export interface ParsedSource {
  repoUrl: string | null | undefined
  branch: string | null | undefined
  image: string | null | undefined
}

/** The row of a new service. */
export function newRow(body: CreateService, made: ParsedSource & { id: string; at: string }): ServiceRow {
  const { name, type, port, memory_limit_mb, cpu_limit } = body
  return {
    id: made.id,
    name,
    type,
    repo_url: made.repoUrl ?? null,
    branch: made.branch ?? null,
    image: made.image ?? null,
    root_dir: normalPath(body.root_dir) ?? null,
    dockerfile_path: normalPath(body.dockerfile_path) ?? null,
    build_command: null,
    start_command: body.start_command ?? null,
    pre_deploy_command: body.pre_deploy_command ?? null,
    build_env: body.build_env ?? [],
    ...laterSettings(body),
    publish_dir: normalFolder(body.publish_dir) ?? null,
    spa_fallback: body.spa_fallback ?? false,
    port: port ?? null,
    health_check_path: body.health_check_path ?? null,
    health_check_timeout_seconds: body.health_check_timeout_seconds ?? 300,
    drain_seconds: body.drain_seconds ?? 30,
    schedule: body.schedule ?? null,
    timezone: body.timezone ?? null,
    overlap: body.overlap ?? null,
    timeout_seconds: body.timeout_seconds ?? null,
    instances: body.instances ?? 1,
    // Without effect until a push can begin a deploy: the record has them, and nothing can set them.
    auto_deploy: true,
    watch_paths: [],
    suspended: false,
    disk_mount_path: body.disk_mount_path ?? null,
    memory_limit_mb: memory_limit_mb ?? null,
    cpu_limit: cpu_limit ?? null,
    custom_domains: normalDomains(body.custom_domains) ?? [],
    hsts: body.hsts ?? atEdge.hsts,
    request_timeout_seconds: body.request_timeout_seconds ?? atEdge.request_timeout_seconds,
    max_body_mb: body.max_body_mb ?? atEdge.max_body_mb,
    shared_network: body.shared_network ?? false,
    live_deploy_id: null,
    desired_deploy_id: null,
    archive_deploy_id: null,
    degraded: false,
    deleting: false,
    created_at: made.at,
    updated_at: made.at,
    revision: 1,
  }
}

/** Settings that rows of older versions lack. */
function laterSettings({ build_target, build_args, init }: CreateService) {
  return { build_target: build_target ?? null, build_args: build_args ?? {}, init: init ?? true }
}

/** The row with the fields that a PATCH names. */
export function changedRow(
  row: ServiceRow,
  body: UpdateService,
  made: ParsedSource & { at: string },
): ServiceRow {
  const { name, type, repo_url, branch, image, root_dir, dockerfile_path, publish_dir, ...others } = body
  const { custom_domains, ...rest } = others
  const fields = {
    ...rest,
    repo_url: made.repoUrl,
    branch: made.branch,
    image: made.image,
    root_dir: normalPath(root_dir),
    dockerfile_path: normalPath(dockerfile_path),
    publish_dir: normalFolder(publish_dir),
    custom_domains: normalDomains(custom_domains),
  }
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  const changed: ServiceRow = { ...withoutStaleBranch(row, made), ...given, updated_at: made.at }
  if (changed.repo_url && changed.image && !(made.repoUrl && made.image)) refuseSecondSource(row)
  return changed
}

/** A detected default branch is cleared with its repository; a branch that a user set stays. */
function withoutStaleBranch(row: ServiceRow, { branch, repoUrl }: ParsedSource): ServiceRow {
  const { branch_learnt = false, ...others } = row
  if (branch !== undefined) return others
  const isMoved = repoUrl !== undefined && repoUrl !== row.repo_url
  return branch_learnt && isMoved ? { ...others, branch: null } : row
}

/** What a service is made from changes only on purpose: the one goes in the PATCH that brings the other. */
function refuseSecondSource({ name, repo_url, image }: ServiceRow): never {
  const [field, value] = repo_url ? ['repo_url', repo_url] : ['image', image]
  throw new Failure('conflict', `${name} deploys from ${value}`, `clear ${field} in the same PATCH: ""`)
}

/** Throws `invalid_request` naming every rule the row would break. */
export function checkRow(row: ServiceRow): void {
  const details = [...brokenRules(row)]
  const [first] = details
  if (first) throw new Failure('invalid_request', `${first.path}: ${first.message}`, undefined, details)
}

function* brokenRules(row: ServiceRow): Iterable<FailureDetail> {
  if (row.health_check_path !== null && !listens(row)) {
    yield broken('health_check_path', `a ${row.type.replace('_', ' ')} has no address to check`)
  }
  yield* row.type === 'cron_job' ? brokenScheduleRules(row) : onlyForCron(row)
  if (row.repo_url !== null && row.image !== null) {
    yield broken('image', 'a service has a repository or an image, not both')
  }
  yield* row.type === 'static_site' ? brokenSiteRules(row) : onlyForSites(row)
  yield* isPublicType(row.type) ? brokenHostRules(row) : onlyForPublic(row)
  if (row.disk_mount_path !== null && row.instances > 1) {
    yield broken('instances', 'a service with a disk has exactly one instance')
  }
  if (row.root_dir !== null && climbs(row.root_dir)) yield broken('root_dir', 'must not leave the repository')
  if (row.dockerfile_path !== null && climbs(posix.join(row.root_dir ?? '', row.dockerfile_path))) {
    yield broken('dockerfile_path', 'must not leave the repository')
  }
}

function* brokenScheduleRules(row: ServiceRow): Iterable<FailureDetail> {
  if (row.schedule === null) yield broken('schedule', 'is required: a cron job has one')
  if (row.instances !== 1) yield broken('instances', 'a cron job has exactly one')
  if (row.disk_mount_path !== null) yield broken('disk_mount_path', 'a cron job has no disk')
}

function* onlyForCron(row: ServiceRow): Iterable<FailureDetail> {
  for (const path of ['schedule', 'timezone', 'overlap'] as const) {
    if (row[path] !== null) yield broken(path, 'only a cron job has one')
  }
}

function* brokenSiteRules(row: ServiceRow): Iterable<FailureDetail> {
  const message = 'a static site is served by a server of Berth: it has no such setting'
  const foreign = [
    'image',
    'start_command',
    'pre_deploy_command',
    'disk_mount_path',
    'timeout_seconds',
  ] as const
  for (const path of foreign) {
    if (row[path] !== null) yield broken(path, message)
  }
}

function* onlyForSites(row: ServiceRow): Iterable<FailureDetail> {
  if (row.publish_dir !== null) yield broken('publish_dir', 'only a static site has one')
  if (row.spa_fallback) yield broken('spa_fallback', 'only a static site has one')
}

function* brokenHostRules(row: ServiceRow): Iterable<FailureDetail> {
  if (row.custom_domains.length > customDomainLimit) {
    yield broken('custom_domains', `a service has at most ${customDomainLimit} domains`)
  }
}

function* onlyForPublic(row: ServiceRow): Iterable<FailureDetail> {
  const message = 'only a web service or a static site is reached from outside'
  if (row.custom_domains.length > 0) yield broken('custom_domains', message)
  for (const path of ['hsts', 'request_timeout_seconds', 'max_body_mb'] as const) {
    if (row[path] !== atEdge[path]) yield broken(path, message)
  }
}

function broken(path: string, message: string): FailureDetail {
  return { path, code: 'invalid', message }
}

function climbs(path: string): boolean {
  return posix.normalize(path).split('/')[0] === '..'
}

/** Each once, in the order given. Throws `invalid_request`. */
function normalDomains(domains: readonly string[] | undefined): string[] | undefined {
  return domains && [...new Set(domains.map(normalizeDomain))]
}

/** Without needless parts; the top of the repository is null, as when nothing is set. */
function normalPath(path: string | null | undefined): string | null | undefined {
  if (path === null || path === undefined) return path
  const normal = posix.normalize(path).replace(/\/$/, '')
  return normal === '.' ? null : normal
}

/** Without needless parts; it may be absolute, and `.` is a folder like others: the WORKDIR of an image. */
function normalFolder(path: string | null | undefined): string | null | undefined {
  return path && posix.normalize(path).replace(/(?<=.)\/$/, '')
}
