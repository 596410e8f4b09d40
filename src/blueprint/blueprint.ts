// berth.yaml: what should run on a server. Names, types and limits are those of the API, and a setting that
// the file does not name stays as it is on the server.
import { z } from 'zod'
import type { ServiceType } from '../../storage/services.ts'
import { CreateDatastore } from '../api/datastore.ts'
import { AddDomain, Domain } from '../api/domains.ts'
import { EnvKey, EnvVar } from '../api/env.ts'
import { Name } from '../api/parts/fields.ts'
import { messageFor } from '../api/parts/messages.ts'
import { CreateService } from '../api/service.ts'
import { parseImageReference } from '../docker/images/image-reference.ts'
import { normalizeDomain } from '../domain/domains.ts'
import { type RuledService, ruleViolations } from '../domain/service-rules.ts'
import { type Setting, type SettingName, serviceSettings, settingNames } from '../domain/service-settings.ts'
import { Failure } from '../errors.ts'
import { parseRepositoryUrl } from '../git/repository.ts'
import { suggestion } from '../nearest-name.ts'
import { InvalidYaml, isRecord, type Path, readYaml, valueAt, type YamlFile } from './yaml.ts'

export const blueprintFile = 'berth.yaml'

const word = z
  .union([EnvVar.shape.value, z.number(), z.boolean()], { error: "must be a text; '' is an empty one" })
  .describe('Its text is kept as written. ${{datastore.NAME.connectionString}} is a reference.')
const { name: _, type: __, env: ___, deploy: ____, custom_domains: _____, ...settings } = CreateService.shape

const Job = z.strictObject({
  ...settings,
  folder: z
    .string()
    .min(1)
    .optional()
    .describe('Its source is this folder next to the file: `berth up NAME FOLDER` uploads it.'),
  env: z.record(EnvKey, word).default({}).describe('Variables and their values.'),
  secrets: z
    .array(EnvKey)
    .default([])
    .describe('Variables whose values are only on the server. `berth apply` asks for missing ones.'),
})

const Service = Job.extend({
  type: z
    .enum(['web_service', 'private_service', 'background_worker', 'static_site'])
    .default('web_service')
    .describe('web_service by default. A cron job is in `jobs`.'),
  domains: z
    .array(z.union([Domain.transform((domain): AddDomain => ({ domain })), AddDomain]))
    .default([])
    .describe('Hosts in addition to the default one. `redirect_to` is another host of the service.'),
})

const Datastore = CreateDatastore.omit({ name: true }).extend({
  version: z
    .union([z.number(), CreateDatastore.shape.version])
    .transform((version) => version as string | undefined)
    .describe('Version of the server; by default 17 for postgres and 8 for redis.'),
})

/** Why the server would refuse it; undefined if it would not. */
export const secretProblem = (value: string) => EnvVar.shape.value.safeParse(value).error?.issues[0]?.message

const Blueprint = z
  .strictObject({
    services: z.record(Name, Service).default({}).describe('Services by name.'),
    jobs: z.record(Name, Job).default({}).describe('Cron jobs by name.'),
    datastores: z.record(Name, Datastore).default({}).describe('Managed Postgres and Redis by name.'),
  })
  .meta({ title: blueprintFile, description: 'Services, jobs and datastores of a Berth server.' })

export type BlueprintFile = Partial<z.input<typeof Blueprint>>
export type FileService = z.input<typeof Service>
type Parsed = z.output<typeof Blueprint>
type ParsedService = Omit<z.output<typeof Service>, 'type'> & { type: ServiceType }

/** For editors. */
export function blueprintSchema(): object {
  return z.toJSONSchema(Blueprint, { io: 'input', target: 'draft-7', unrepresentable: 'any' })
}

type Settings = Partial<Record<SettingName, unknown>>

export interface WantedService {
  name: string
  type: ServiceType
  /** The named settings as the server stores them; null for a cleared one. */
  settings: Settings
  /** The same in the form of a request. */
  request: Settings
  env: EnvVar[]
  secrets: string[]
  domains: AddDomain[]
  folder: string | null
}

export interface WantedDatastore {
  name: string
  /** As the server stores it; null for a cleared setting. */
  settings: Omit<CreateDatastore, 'name'>
  /** The same in the form of a request. */
  request: object
}

export interface Wanted {
  services: WantedService[]
  datastores: WantedDatastore[]
}

export interface Issue {
  line: number
  /** `services.shop.port` */
  path: string
  message: string
}

export class InvalidBlueprint extends Error {
  constructor(readonly issues: Issue[]) {
    super(issues.map(({ line, path, message }) => `${line} ${path}: ${message}`).join('\n'))
  }
}

/** Throws InvalidBlueprint, with every violation of the file. */
export function parseBlueprint(text: string): Wanted {
  const file = read(text)
  const value = withTexts(file.value ?? {}, file.texts)
  const result = Blueprint.safeParse(value, { error: messageFor })
  const report = (found: { path: Path; message: string }[]) => {
    if (found.length > 0) throw new InvalidBlueprint(found.map((one) => toIssue(file, one)))
  }
  if (!result.success) report(result.error.issues.flatMap(withUnknownKeys))
  const found: { path: Path; message: string }[] = []
  const wanted = toWanted(result.data!, value, (path, message) => found.push({ path, message }))
  report(found)
  return wanted
}

function read(text: string): YamlFile {
  try {
    return readYaml(text)
  } catch (error) {
    if (!(error instanceof InvalidYaml)) throw error
    throw new InvalidBlueprint([{ line: 1, path: blueprintFile, message: error.message }])
  }
}

/** YAML reads 1.10 as a number; these keep the text. */
const textFields: PropertyKey[] = ['env', 'build_args', 'version']

function withTexts(value: unknown, texts: unknown, path: Path = []): unknown {
  if (Array.isArray(value)) return value
  if (isRecord(value) && isRecord(texts)) {
    const entries = Object.entries(value)
    return Object.fromEntries(entries.map(([key, one]) => [key, withTexts(one, texts[key], [...path, key])]))
  }
  return value !== null && textFields.includes(path[2]!) ? texts : value
}

function withUnknownKeys(issue: z.core.$ZodIssue): { path: Path; message: string }[] {
  if (issue.code !== 'unrecognized_keys') return [issue]
  const known =
    issue.path.length === 0
      ? Blueprint.shape
      : issue.path[0] === 'datastores'
        ? Datastore.shape
        : Service.shape
  return issue.keys.map((key) => {
    const hint = key === 'custom_domains' ? "write 'domains'" : suggestion(key, Object.keys(known))
    return { path: [...issue.path, key], message: `is not a known key${hint ? `; ${hint}` : ''}` }
  })
}

function toIssue(file: YamlFile, { path, message }: { path: Path; message: string }): Issue {
  return { line: file.lineOf(path), path: path.map(String).join('.') || blueprintFile, message }
}

type Report = (path: Path, message: string) => void

function toWanted(parsed: Parsed, raw: unknown, report: Report): Wanted {
  const { services, jobs, datastores } = parsed
  const names = new Set<string>()
  for (const [section, entries] of Object.entries(parsed)) {
    for (const name of Object.keys(entries)) {
      if (names.has(name)) report([section, name], 'this name is used twice')
      names.add(name)
    }
  }
  const given = (...path: Path) => valueAt(raw, path) as Record<string, unknown>
  const wanted = (section: 'services' | 'jobs', name: string, service: ParsedService) =>
    toService({ name, service, raw: given(section, name) }, (path, message) =>
      report([section, name, ...path], message),
    )
  for (const [name, { kind, ...datastore }] of Object.entries(datastores)) {
    for (const key of ['database', 'username'] as const) {
      if (kind === 'redis' && datastore[key]) report(['datastores', name, key], 'Redis has none to choose')
    }
  }
  return {
    services: [
      ...Object.entries(services).map(([name, service]) => wanted('services', name, service)),
      ...Object.entries(jobs).map(([name, job]) =>
        wanted('jobs', name, { ...job, type: 'cron_job', domains: [] }),
      ),
    ],
    datastores: Object.entries(datastores).map(([name, settings]) => ({
      name,
      settings,
      request: { ...given('datastores', name), ...(settings.version ? { version: settings.version } : {}) },
    })),
  }
}

interface Given {
  name: string
  service: ParsedService
  /** As written. */
  raw: Record<string, unknown>
}

function toService({ name, service, raw }: Given, report: Report): WantedService {
  const { type, folder = null, env, secrets, domains } = service
  const entries = settingNames.flatMap((key) => {
    const value = (service as Settings)[key]
    return value === undefined ? [] : [[key, storedForm(key, value, (text) => report([key], text))] as const]
  })
  const settings: Settings = Object.fromEntries(entries)
  const request: Settings = Object.fromEntries(entries.map(([key]) => [key, raw[key]]))
  if (/^https?:\/\/[^/]*@/.test(String(raw.repo_url))) {
    report(['repo_url'], `has credentials: berth update ${name} --repo URL gives them to the server`)
  }
  const sources = [folder, settings.repo_url, settings.image].filter((source) => typeof source === 'string')
  if (sources.length > 1) report([], 'has more than one of repo_url, image and folder')
  for (const key of secrets) {
    if (Object.hasOwn(env, key)) report(['env', key], 'is also one of the secrets')
  }
  // A service has one source: naming it replaces another kind.
  if (sources.length === 1) {
    for (const key of ['repo_url', 'image'] as const) {
      if (settings[key]) continue
      settings[key] = null
      request[key] = ''
    }
  }
  const vars = Object.entries(env).map(([key, value]) => ({ key, value: String(value) }))
  const hosts = domains.map((one, index) => normalDomain(one, (text) => report(['domains', index], text)))
  const wanted = { name, type, settings, request, env: vars, secrets, domains: hosts, folder }
  for (const { path, message } of brokenRules(wanted, defaults))
    report([path === 'custom_domains' ? 'domains' : path], message)
  return wanted
}

const defaults = Object.fromEntries(settingNames.map((name) => [name, serviceSettings[name].default]))

/** Of the service that has the wanted settings, and else the other ones. */
export function brokenRules({ type, settings, domains }: WantedService, others: object) {
  const { custom_domains: kept = [] } = others as Partial<RuledService>
  const custom_domains = [...new Set([...kept, ...domains.map(({ domain }) => domain)])]
  return ruleViolations({ ...others, ...settings, type, custom_domains } as RuledService)
}

const parsers: Partial<Record<SettingName, (text: string) => string>> = {
  image: (text) => parseImageReference(text).reference,
  repo_url: (text) => parseRepositoryUrl(text).url,
}

/** As the server would store it, so that an unchanged setting is recognized. */
function storedForm(name: SettingName, value: unknown, report: (text: string) => void): unknown {
  if (value === null) return serviceSettings[name].default
  const { normalize } = serviceSettings[name] as Setting
  const parse = parsers[name]
  return orReport(value, report, () =>
    parse ? parse(String(value)) : normalize ? normalize(value as never) : value,
  )
}

function normalDomain({ domain, redirect_to }: AddDomain, report: (text: string) => void): AddDomain {
  return orReport({ domain }, report, () => ({
    domain: normalizeDomain(domain),
    ...(redirect_to === undefined ? {} : { redirect_to: normalizeDomain(redirect_to) }),
  }))
}

function orReport<T>(fallback: T, report: (text: string) => void, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    report(error.message)
    return fallback
  }
}
