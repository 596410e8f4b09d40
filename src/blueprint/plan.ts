// Compares a blueprint with a server. A plan never takes anything away: what the file does not name is kept,
// and listed with the command that removes it.
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Datastore } from '../api/datastore.ts'
import type { Disk } from '../api/disk.ts'
import type { AddDomain, ServiceDomain } from '../api/domains.ts'
import { type EnvVar, isWithinTotal } from '../api/env.ts'
import type { Service } from '../api/service.ts'
import { defaultHost, isPublicType } from '../domain/domains.ts'
import {
  datastoreProperties,
  type Reference,
  referencesIn,
  serviceProperties,
} from '../domain/env-references.ts'
import { keptDiskOf, keptDisksOf } from '../domain/kept-disks.ts'
import { type Setting, type SettingName, serviceSettings, settingNames } from '../domain/service-settings.ts'
import { brokenRules, type Wanted, type WantedDatastore, type WantedService } from './blueprint.ts'
import { looksSecret } from './secrets.ts'

export interface RunningService extends Service {
  env: EnvVar[]
  /** Without the default one. */
  domains: Pick<ServiceDomain, 'domain' | 'redirect_to'>[]
}

export interface ServerState {
  services: RunningService[]
  datastores: Datastore[]
  /** Names of what is being deleted. */
  leaving?: string[]
  disks?: Disk[]
  baseDomain?: string
}

type Effect = Setting['takesEffect']

export interface Detail {
  /** `port`, `env GREETING`, `domain shop.example.com` */
  what: string
  /** Null if it is new; both are null for a variable that is a secret. */
  from: string | null
  to: string | null
  takes_effect: Effect
}

export interface Change {
  action: 'create' | 'change'
  noun: 'service' | 'datastore'
  name: string
  /** `web_service`, `postgres` */
  kind: string
  details: Detail[]
}

export interface Refusal {
  what: string
  reason: string
  hint: string
}

export interface Kept {
  what: string
  /** The command, or the line of the file, that removes it. */
  removal: string
}

export interface Plan {
  /** Datastores first, and a service after those that it refers to. */
  changes: Change[]
  refusals: Refusal[]
  /** Secrets that the server does not have. */
  missing: { service: string; key: string }[]
  kept: Kept[]
  /** Services that the file does not name. */
  surplus: string[]
  /** Why some of those cannot be deleted. */
  in_use: Refusal[]
  /** Identifies the blueprint and what it was compared with. */
  fingerprint: string
}

export function makePlan(wanted: Wanted, state: ServerState): Plan {
  const services = referredFirst(wanted.services)
  const changes = [
    ...wanted.datastores.map((one) => compareDatastore(one, byName(state.datastores, one.name))),
    ...services.map((one) => compareService(one, state)),
  ].filter(({ action, details }) => action === 'create' || details.length > 0)
  const isUnnamed = ({ name }: { name: string }) =>
    !byName(wanted.services, name) && !byName(wanted.datastores, name)
  const surplus = state.services.filter(isUnnamed).map(({ name }) => name)
  const plan = {
    changes,
    refusals: [...refusalsOf(wanted, state)],
    missing: wanted.services.flatMap((one) =>
      newSecrets(one, byName(state.services, one.name)).map((key) => ({ service: one.name, key })),
    ),
    kept: [
      ...surplus.map((name) => ({ what: `service ${name}`, removal: `berth delete ${name}` })),
      ...state.datastores
        .filter(isUnnamed)
        .map(({ name }) => ({ what: `datastore ${name}`, removal: `berth db rm ${name}` })),
      ...wanted.services.flatMap((one) => [...keptOf(one, byName(state.services, one.name))]),
      ...wanted.services.flatMap((one) => ambiguousDisks(one, state)),
    ],
    surplus,
    in_use: surplus.flatMap((name) => referrersOf(name, wanted, state)),
  }
  const ids = [...state.services, ...state.datastores].map(({ id }) => id)
  const digest = createHash('sha256').update(JSON.stringify([wanted, plan, ids]))
  return { ...plan, fingerprint: digest.digest('hex').slice(0, 12) }
}

function byName<One extends { name: string }>(list: One[], name: string): One | undefined {
  return list.find((one) => one.name === name)
}

type Current = RunningService | undefined

function compareService(wanted: WantedService, state: ServerState): Change {
  const { name, type: kind, settings } = wanted
  const current = byName(state.services, name)
  const left = current || !settings.disk_mount_path ? null : keptDiskOf(name, state.disks ?? [])
  const from = (key: SettingName) => (current ? shown(current[key]) : null)
  const details = [
    ...changedSettings(wanted, current).map((key) =>
      detail(key, from(key), shown(settings[key]), serviceSettings[key].takesEffect),
    ),
    ...changedEnv(wanted, current).map((one) => {
      const former = current?.env.find(({ key }) => key === one.key)
      const from = former && shownValue(former)
      return detail(`env ${one.key}`, from ?? null, shownValue(one), 'at restart')
    }),
    ...newSecrets(wanted, current).map((key) => detail(`env ${key}`, null, null, 'at restart')),
    ...changedDomains(wanted, current).map(({ domain, redirect_to: target }) =>
      detail(`domain ${domain}`, null, target ? `redirects to ${target}` : 'served', 'immediately'),
    ),
    ...(left ? [detail('disk', null, `${left.name}, which a former ${name} left`, 'at restart')] : []),
    ...(isUndeployed(current) ? [detail('deploy', null, 'the first one', 'at build')] : []),
  ]
  return { action: current ? 'change' : 'create', noun: 'service', name, kind, details }
}

/** What was created and then not deployed, because something failed in between. */
export function isUndeployed(service: Partial<Service> = {}): boolean {
  return service.latest_deploy === null && !service.suspended && !!(service.repo_url || service.image)
}

function shownValue({ key, value }: EnvVar): string | null {
  const isReference = /^\$\{\{[^{}]*\}\}$/.test(value)
  return looksSecret(key, value) && !isReference ? null : value
}

function detail(what: string, from: Detail['from'], to: Detail['to'], takes_effect: Effect): Detail {
  return { what, from, to, takes_effect }
}

export function changedSettings({ settings }: WantedService, current: Current): SettingName[] {
  const names = Object.keys(settings) as SettingName[]
  return names.filter((key) => !isDeepStrictEqual(settings[key], current?.[key] ?? unsetValue(key, settings)))
}

/** An image is not deployed automatically by default. */
export function unsetValue(key: SettingName, { image = null }: { image?: unknown }): unknown {
  return key === 'auto_deploy' ? image === null : serviceSettings[key].default
}

export function changedEnv({ env }: WantedService, current: Current): EnvVar[] {
  return env.filter(({ key, value }) => current?.env.find((one) => one.key === key)?.value !== value)
}

function newSecrets({ secrets }: WantedService, current: Current): string[] {
  return secrets.filter((key) => !current?.env.some((one) => one.key === key))
}

/** The host that another one redirects to has to be there before that one. */
export function changedDomains({ domains }: WantedService, current: Current): AddDomain[] {
  const changed = domains.filter(({ domain, redirect_to = null }) => {
    const known = current?.domains.find((one) => one.domain === domain)
    return known?.redirect_to !== redirect_to
  })
  return changed.toSorted((one, other) => Number(!!one.redirect_to) - Number(!!other.redirect_to))
}

/** What a datastore is created with, and keeps. */
export const fixedSettings = ['kind', 'version', 'database', 'username'] as const
const limits = [
  'memory_limit_mb',
  'cpu_limit',
  'backup_schedule',
  'backup_keep',
  'backup_keep_days',
  'backup_place',
  'shared_network',
] as const

function compareDatastore({ name, settings }: WantedDatastore, current: Datastore | undefined): Change {
  const compared = current ? limits : [...fixedSettings.slice(1), ...limits]
  const details = compared
    .filter((key) => settings[key] !== undefined && settings[key] !== (current?.[key] ?? null))
    .map((key) => detail(key, current ? shown(current[key]) : null, shown(settings[key]), 'immediately'))
  return { action: current ? 'change' : 'create', noun: 'datastore', name, kind: settings.kind, details }
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** What cannot become what the file says. */
function* refusalsOf({ services, datastores }: Wanted, state: ServerState): Iterable<Refusal> {
  const hint = 'choose another name in the file'
  for (const wanted of services) {
    const what = `service ${wanted.name}`
    const current = byName(state.services, wanted.name)
    if (byName(state.datastores, wanted.name)) yield { what, reason: 'a datastore has this name', hint }
    if (current) yield* serviceRefusals(what, wanted, current)
    if (state.leaving?.includes(wanted.name)) yield { what, ...leaving }
    for (const [reason, hint] of domainRefusals(wanted, { services, datastores }, state))
      yield { what, reason, hint }
    if (!isWithinTotal(envAfter(wanted, state)))
      yield { what, reason: 'all its variables together may have 512 KiB', hint: 'keep less in them' }
    for (const { key, value } of wanted.env) {
      const isBroken = (one: Reference | null) => !one || !refersTo(one, { services, datastores }, state)
      if (!referencesIn(value).some(isBroken)) continue
      const reason = `its variable ${key} refers to something that is neither in the file nor on the server`
      yield { what, reason, hint: '$${{ is a literal ${{' }
    }
  }
  for (const { name, settings } of datastores) {
    const what = `datastore ${name}`
    const current = byName(state.datastores, name)
    if (byName(state.services, name)) yield { what, reason: 'a service has this name', hint }
    if (state.leaving?.includes(name)) yield { what, ...leaving }
    for (const key of fixedSettings) {
      if (!current || settings[key] === undefined || settings[key] === current[key]) continue
      const reason = `its ${key} is ${current[key]}, and the file says ${settings[key]}`
      yield { what, reason, hint: key === 'version' ? upgradeHint(settings.version!, current) : otherName }
    }
  }
}

const leaving = { reason: 'what had this name is still being deleted', hint: 'try again in a moment' }

/** In pairs of a reason and a hint. */
function* domainRefusals(
  { name, type, domains }: WantedService,
  { services }: Wanted,
  { services: running, baseDomain = '' }: ServerState,
): Iterable<[string, string]> {
  const others = [...running, ...services].filter((one) => one.name !== name && isPublicType(one.type))
  const current = byName(running, name)
  const own = { domain: defaultHost(name, baseDomain), redirect_to: null }
  const hosts = [...domains, own, ...(current?.domains ?? [])]
  const added = current || !isPublicType(type) ? domains : [...domains, own]
  for (const { domain, redirect_to: target } of added) {
    const has = (one: { domain: string }) => one.domain === domain
    const owner = others.find((one) => one.domains.some(has) || defaultHost(one.name, baseDomain) === domain)
    if (owner) yield [`${domain} is a domain of ${owner.name}`, `berth domains rm ${owner.name} ${domain}`]
    const final = hosts.find((one) => one.domain === target)
    if (target && (!final || final.redirect_to))
      yield [`${domain} cannot redirect to ${target}`, 'that has to be another domain which it serves']
  }
  if (domains.some(({ domain }) => domain === own.domain))
    yield ['its default address is no domain', 'omit it']
}

/** Its variables once the file is applied, but for missing secrets. */
function envAfter({ name, env }: WantedService, { services }: ServerState): EnvVar[] {
  const kept = byName(services, name)?.env ?? []
  return [...env, ...kept.filter(({ key }) => !env.some((one) => one.key === key))]
}

function referrersOf(name: string, { services }: Wanted, state: ServerState): Refusal[] {
  const refers = ({ value }: EnvVar) =>
    referencesIn(value).some((one) => one?.noun === 'service' && one.name === name)
  return services.flatMap((one) =>
    envAfter(one, state)
      .filter(refers)
      .map(({ key }) => ({
        what: `service ${name}`,
        reason: `it cannot be deleted: it is in use by ${one.name}, as ${key}`,
        hint: `berth env unset ${one.name} ${key}, or give it another value in the file`,
      })),
  )
}

const otherName = 'it cannot be changed: another name in the file creates another datastore'

function upgradeHint(version: string, { name, kind, version: current }: Datastore): string {
  const isNewer = kind === 'postgres' && Number.parseInt(version, 10) > Number.parseInt(current, 10)
  return isNewer ? `berth db upgrade ${name} --to ${version}` : otherName
}

function* serviceRefusals(what: string, wanted: WantedService, current: RunningService): Iterable<Refusal> {
  const { name, type } = wanted
  const path = wanted.settings.disk_mount_path
  const former = current.disk_mount_path
  if (type !== current.type) {
    const reason = `it is a ${current.type}, and the file says ${type}`
    yield { what, reason, hint: `berth delete ${name} deletes it, then berth apply creates it again` }
  }
  if (path !== undefined && former !== null && path !== former) {
    const reason = `its disk is mounted at ${former}, and the file says ${shown(path)}`
    yield { what, reason, hint: `berth update ${name} --disk ${path ?? "''"}` }
  }
  if (type !== current.type) return
  for (const { path: setting, message } of brokenRules(wanted, current))
    yield { what, reason: `${setting}: ${message}`, hint: 'what the file does not name stays as it is' }
}

function refersTo({ noun, name, property }: Reference, wanted: Wanted, state: ServerState): boolean {
  const isService = noun === 'service'
  const properties: readonly string[] = isService ? serviceProperties : datastoreProperties
  const service = byName([...wanted.services, ...state.services], name)
  const kind = byName(wanted.datastores, name)?.settings.kind ?? byName(state.datastores, name)?.kind
  const isThere = isService
    ? service && (property !== 'url' || isPublicType(service.type))
    : kind && (property !== 'database' || kind === 'postgres')
  return !!isThere && properties.includes(property)
}

/** Several disks that former services of this name left, for one that begins with an empty disk. */
function ambiguousDisks({ name, settings }: WantedService, { services, disks = [] }: ServerState): Kept[] {
  if (!settings.disk_mount_path || byName(services, name) || keptDiskOf(name, disks)) return []
  return keptDisksOf(name, disks).map((disk) => ({
    what: `disk ${disk.name} of a former ${name}, whose new disk begins empty`,
    removal: `berth disks backup ${disk.name} > FILE, then berth disks restore ${name} < FILE`,
  }))
}

function* keptOf(wanted: WantedService, current: Current): Iterable<Kept> {
  const { name, type, settings, env, secrets, domains } = wanted
  if (!current || current.type !== type) return
  for (const key of settingNames) {
    const unset = unsetValue(key, current)
    // A branch that the file does not name is often the default one, which the first deploy has found.
    if (key in settings || key === 'custom_domains' || key === 'branch') continue
    if (isDeepStrictEqual(current[key], unset)) continue
    const cleared = unset === null ? (typeof current[key] === 'number' ? '0' : "''") : JSON.stringify(unset)
    yield { what: `${key} ${shown(current[key])} of ${name}`, removal: `${key}: ${cleared} in the file` }
  }
  for (const { key } of current.env) {
    if (secrets.includes(key) || env.some((one) => one.key === key)) continue
    yield { what: `variable ${key} of ${name}`, removal: `berth env unset ${name} ${key}` }
  }
  for (const { domain } of current.domains) {
    if (domains.some((one) => one.domain === domain)) continue
    yield { what: `domain ${domain} of ${name}`, removal: `berth domains rm ${name} ${domain}` }
  }
}

/** The order in which services are deployed. */
function referredFirst(services: WantedService[]): WantedService[] {
  const ordered = new Set<WantedService>()
  const visited = new Set<WantedService>()
  const visit = (service: WantedService | undefined) => {
    if (!service || visited.has(service)) return
    visited.add(service)
    for (const one of service.env.flatMap(({ value }) => referencesIn(value)))
      if (one?.noun === 'service') visit(byName(services, one.name))
    ordered.add(service)
  }
  services.forEach(visit)
  return [...ordered]
}
