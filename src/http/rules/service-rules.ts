// Converts a request to a row, and checks the rules of the resulting row, also for a PATCH.
import { isDeepStrictEqual } from 'node:util'
import type { ServiceRow } from '../../../storage/services.ts'
import type { CreateService, UpdateService } from '../../api/service.ts'
import { defaultHost, isPublicType } from '../../domain/domains.ts'
import { ruleViolations } from '../../domain/service-rules.ts'
import {
  type Setting,
  type SettingName,
  serviceSettings,
  settingNames,
} from '../../domain/service-settings.ts'
import { conflict, Failure, type FailureDetail } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'
import type { Call } from '../pipeline/route.ts'
import { assertNotDeleting, toService } from '../records/service-record.ts'

/** The parsed body: undefined means absent, null means cleared. `repoUrl` contains no credentials. */
interface ParsedSource {
  repoUrl: string | null | undefined
  branch: string | null | undefined
  image: string | null | undefined
}

export function newRow(body: CreateService, made: ParsedSource & { id: string; at: string }): ServiceRow {
  const input = normalizedSettings(body, made)
  const settings = settingNames.map((name) => [name, input[name] ?? serviceSettings[name].default])
  return {
    id: made.id,
    name: body.name,
    type: body.type,
    ...(Object.fromEntries(settings) as Pick<ServiceRow, SettingName>),
    auto_deploy: body.auto_deploy ?? !made.image,
    suspended: false,
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

export function changedRow(
  row: ServiceRow,
  body: UpdateService,
  made: ParsedSource & { at: string },
): ServiceRow {
  const { suspended = row.suspended } = body
  const settings = normalizedSettings(body, made)
  const source = withAutoDeploys(withNewRepository(row, made), body, made)
  const merged = { ...source, ...settings, suspended, updated_at: made.at }
  const changed = withoutStaleRedirects(merged)
  if (changed.repo_url && changed.image && !(made.repoUrl && made.image)) throwSecondSource(row)
  return changed
}

/** The given settings in stored form; null for a cleared setting. */
function normalizedSettings(
  body: CreateService | UpdateService,
  { repoUrl, branch, image }: ParsedSource,
): Partial<Pick<ServiceRow, SettingName>> {
  const settings: Partial<Record<SettingName, unknown>> = { ...body, repo_url: repoUrl, branch, image }
  const entries = settingNames.flatMap((name) => {
    const value = settings[name]
    const { normalize } = serviceSettings[name] as Setting
    if (value === undefined) return []
    return [[name, value === null || !normalize ? value : normalize(value)]]
  })
  return Object.fromEntries(entries)
}

/** A new repository loses the detected branch of the former one; a branch that a user set stays. */
function withNewRepository(row: ServiceRow, { branch, repoUrl }: ParsedSource): ServiceRow {
  const { branch_learnt = false, ...others } = row
  const isMoved = repoUrl !== undefined && repoUrl !== row.repo_url
  const moved = isMoved ? { use_git_connection: true } : {}
  if (branch !== undefined) return { ...others, ...moved }
  return branch_learnt && isMoved ? { ...others, ...moved, branch: null } : { ...row, ...moved }
}

/** Images are deployed automatically only on request; what a rollback paused is resumed by a request. */
function withAutoDeploys(row: ServiceRow, { auto_deploy }: UpdateService, { image }: ParsedSource) {
  // A row that has it is not from before automatic deploys: a user decided.
  const { poll_seconds = serviceSettings.poll_seconds.default } = row
  if (auto_deploy === true) return { ...row, poll_seconds, auto_deploy_paused_by: null }
  if (auto_deploy === false) return { ...row, poll_seconds }
  return image && row.image === null ? { ...row, auto_deploy: false } : row
}

/** A domain that is removed and added again serves the service itself. */
function withoutStaleRedirects(row: ServiceRow): ServiceRow {
  const { domain_redirects: redirects, custom_domains } = row
  if (redirects === undefined) return row
  const kept = Object.entries(redirects).filter(([domain]) => custom_domains.includes(domain))
  return { ...row, domain_redirects: Object.fromEntries(kept) }
}

/** The kind of source changes only if one PATCH clears the old source and sets the new one. */
function throwSecondSource({ name, repo_url, image }: ServiceRow): never {
  const change = repo_url ? "--repo '' --image IMAGE" : "--image '' --repo URL"
  const hint = `clear the old source in the same change: berth update ${name} ${change}`
  throw conflict(`${name} deploys from ${repo_url ?? image}`, hint)
}

/** Throws `invalid_request` with all violations. */
export function checkRow(row: ServiceRow): void {
  const details: FailureDetail[] = ruleViolations(row).map((one) => ({ ...one, code: 'invalid' }))
  const [first] = details
  if (first) throw new Failure('invalid_request', `${first.path}: ${first.message}`, undefined, details)
}

type Context = Pick<HttpContext, 'config' | 'storage'>

/**
 * Throws `conflict` for a host of the server or another service. Must run in the transaction that commits
 * the row, so that only one of several requests gets a host. `previous` is null for a new service.
 */
export function assertHostsFree(context: Context, row: ServiceRow, previous: ServiceRow | null): void {
  if (!isPublicType(row.type)) return
  const own = defaultHost(row.name, context.config.baseDomain)
  const added = row.custom_domains.filter((domain) => !previous?.custom_domains.includes(domain))
  if (added.includes(own)) throw conflict(`${own} is already the default address of ${row.name}`, 'omit it')
  for (const host of previous ? added : [own, ...added]) assertFree(context, row, host)
}

function assertFree({ config, storage: { services } }: Context, row: ServiceRow, host: string): void {
  if (host === config.edge.dashboardHost) {
    throw conflict(`${host} is the address of this server`, 'choose another')
  }
  const id = services.holderOf(host)
  const holder = id && (services.get(id)?.name ?? id)
  if (holder) {
    throw conflict(`${host} is a domain of ${holder}`, `remove it there: berth domains rm ${holder} ${host}`)
  }
  const name = host.endsWith(`.${config.baseDomain}`)
    ? host.slice(0, -config.baseDomain.length - 1)
    : row.name
  const named = name === row.name ? null : services.get(name)
  if (named?.name === name && isPublicType(named.type)) {
    throw conflict(`${host} is the address of the service ${name}`, 'choose another')
  }
}

interface ChangeOptions {
  also?: () => void
  /** Increments the revision even if the row is unchanged, because `also` changes something. */
  isForced?: boolean
  /** The response to a repeated request; the service by default. */
  response?: (row: ServiceRow) => unknown
}

/**
 * Reads, checks and writes the row in one transaction, and stores the response for repeated requests. Throws
 * `conflict` for a host of another service, and for a service that is being deleted.
 */
export function changeService(
  { context, eventId }: Call,
  id: string,
  change: (row: ServiceRow) => ServiceRow,
  { also, isForced = false, response: answer = (row) => toService(context, row) }: ChangeOptions = {},
): Promise<ServiceRow> {
  const event = { id: eventId ?? '', answer: null as unknown }
  const applyChange = (row: ServiceRow) => {
    assertNotDeleting(row)
    const wanted = change(row)
    const isSame = !isForced && isDeepStrictEqual({ ...wanted, updated_at: row.updated_at }, row)
    // The store increments the revision as well, but only after this response is recorded.
    const changed = isSame ? row : { ...wanted, revision: row.revision + 1 }
    assertHostsFree(context, changed, row)
    event.answer = answer(changed)
    return changed
  }
  return context.storage.services.update(id, applyChange, {
    ...(also ? { also } : {}),
    ...(eventId ? { event } : {}),
  })
}
