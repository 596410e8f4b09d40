// Turns a Compose file into a blueprint. Each key that has no counterpart is named, with its line and why.
import { Name } from '../../api/parts/fields.ts'
import { type BlueprintFile, InvalidBlueprint, parseBlueprint } from '../blueprint.ts'
import { printBlueprint } from '../print.ts'
import { InvalidYaml, isRecord, type Path, readYaml, valueAt } from '../yaml.ts'
import { carriers, type Reading } from './carriers.ts'
import { type Draft, hasPassword, listOf, looksSecret, type Variable } from './draft.ts'
import { interpolate } from './interpolate.ts'
import { reasonFor } from './reasons.ts'
import { isOpen, refer, withReferences } from './references.ts'

export interface Remaining {
  line: number
  /** `services.web.privileged` */
  what: string
  reason: string
}

export interface Surroundings extends Pick<Reading, 'base' | 'readEnvFile'> {
  /** The .env next to the Compose file. */
  env: ReadonlyMap<string, string>
}

type Remark = (path: Path, reason: string) => void

/** Each is compared with all others. */
const maxServices = 500

/** Throws InvalidYaml. */
export function importCompose(text: string, surroundings: Surroundings) {
  const file = readYaml(text)
  const remaining: Remaining[] = []
  const remark: Remark = (path, reason) =>
    remaining.push({ line: file.lineOf(path), what: path.map(String).join('.'), reason })
  const privatePaths = new Set<string>()
  const root = mapTexts(file.texts, [], (value, path) => {
    if (valueAt(file.value, path) === null) return ''
    const { text, isPrivate, unset } = interpolate(value, surroundings.env)
    if (isPrivate || unset.length > 0) privatePaths.add(path.join('.'))
    if (unset.length > 0) remark(path, `not in .env: ${unset.join(', ')}; empty, or in a variable a secret`)
    return text
  })
  const variablesAt = (value: unknown, path: Path): Variable[] => {
    const entries = isRecord(value)
      ? Object.entries(value).map(([key, one]) => ({ key, text: one, at: key as PropertyKey }))
      : listOf(value).map((line, at) => {
          const [, key = '', text = null] = /^([^=]*)(?:=([\s\S]*))?$/.exec(String(line)) ?? []
          return { key, text, at }
        })
    return entries.flatMap(({ key, text, at }) => {
      const isNull = text === null || valueAt(file.value, [...path, at]) === null
      const value = isNull ? (surroundings.env.get(key) ?? null) : String(text)
      const isFound = [path, [...path, at]].some((one) => privatePaths.has(one.join('.')))
      // A name that is itself from .env may be a password.
      if ((text === null && isFound) || (typeof text === 'object' && text !== null)) {
        remark([...path, at], 'it is no variable with a text')
        return []
      }
      const isSuspect = !isNull && !isFound && looksSecret(key, value ?? '')
      return [{ key, value, isPrivate: isNull || isFound || isSuspect, isSuspect }]
    })
  }
  if (!isRecord(root) || !isRecord(root.services)) throw new InvalidYaml('there are no services')
  for (const key of Object.keys(root))
    if (key !== 'services' && !key.startsWith('x-')) remark([key], reasonFor(key))
  const taken = new Set(Object.keys(root.services))
  if (taken.size > maxServices) throw new InvalidYaml(`it has more than ${maxServices} services`)
  const context = { ...surroundings, remark, variablesAt, privatePaths, taken, volumes: new Map() }
  const drafts = Object.entries(root.services).flatMap(([name, service]) => {
    const at = ['services', name]
    const isOnRequest = isRecord(service) && listOf(service.profiles).length > 0
    if (isRecord(service) && !isOnRequest) return toDraft(name, service, context)
    if (isOnRequest) remark([...at, 'profiles'], 'the service is left out: Compose starts it only on request')
    else remark(at, 'the service is left out: it has no keys')
    return []
  })
  for (const draft of drafts.filter(({ kind }) => kind === 'service')) connect(draft, drafts, remark)
  remarkUnused(drafts, remark)
  const blueprint = withoutInvalid(toBlueprint(drafts), drafts, remark)
  return { blueprint, remaining: remaining.toSorted((one, other) => one.line - other.line) }
}

function mapTexts(value: unknown, path: Path, change: (text: string, path: Path) => string): unknown {
  if (typeof value === 'string') return change(value, path)
  if (Array.isArray(value)) return value.map((one, index) => mapTexts(one, [...path, index], change))
  const entries = Object.entries(isRecord(value) ? value : {})
  return Object.fromEntries(entries.map(([key, one]) => [key, mapTexts(one, [...path, key], change)]))
}

interface Context extends Surroundings, Pick<Reading, 'volumes'> {
  remark: Remark
  variablesAt(value: unknown, path: Path): Variable[]
  /** Of values from .env. */
  privatePaths: Set<string>
  /** Names that another service has here, or wants. */
  taken: Set<string>
}

function freeName(original: string, taken: Set<string>): string {
  if (Name.safeParse(original).success) return original
  const words = original.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  const base = /[a-z].{0,35}/.exec(words)?.[0].replace(/-$/, '') ?? 'service'
  let name = base
  for (let number = 2; taken.has(name); number += 1) name = `${base}-${number}`
  taken.add(name)
  return name
}

function toDraft(original: string, service: Record<string, unknown>, context: Context): Draft {
  const { remark, privatePaths } = context
  const name = freeName(original, context.taken)
  if (name !== original) remark(['services', original], `it is called ${name} here, as names are`)
  const sets = { secrets: new Set<string>(), suspects: new Set<string>(), needs: new Set<string>() }
  const { kind, version } = kindOf(service)
  const networks = Object.values(isRecord(service.networks) ? service.networks : {})
  const aliases = networks.flatMap((one) => (isRecord(one) ? listOf(one.aliases) : []))
  const hosts = [original, service.container_name, service.hostname, ...aliases].map((host) =>
    String(host ?? ''),
  )
  const draft: Draft = {
    original,
    hosts: hosts.filter((host) => /^[\w.-]+$/.test(host)),
    name,
    kind,
    fields: {},
    env: new Map(),
    ...sets,
    isPublic: false,
    isPrivate: false,
    login: {},
  }
  const carry = (value: unknown, path: string[]) => {
    const key = path.join('.')
    const at = ['services', original, ...path]
    const isCarried = Object.hasOwn(carriers, key) && (kind === 'service' || key.startsWith('env'))
    const carrier = isCarried ? carriers[key] : undefined
    const isWritten = /^(command|entrypoint|healthcheck\.test)$/.test(key)
    const isGiven = () =>
      [at, ...listOf(value).map((_, index) => [...at, index])].some((one) => privatePaths.has(one.join('.')))
    const isText = !/^(environment|build\.args|depends_on|env_file|ports|volumes)$/.test(key)
    if (carrier && isText && [value, ...listOf(value)].some(isRecord)) remark(at, 'it is no text')
    else if (carrier && isWritten && (hasPassword(listOf(value).join(' ')) || isGiven()))
      remark(at, 'it has a value of .env or a password, which is not written')
    else if (carrier) {
      const variables = () => context.variablesAt(value, at)
      const left = carrier(draft, value, { ...context, service, variables }) ?? []
      for (const [reason, below] of typeof left === 'string' ? [[left]] : left)
        remark(below === undefined ? at : [...at, below], reason as string)
    } else if (isRecord(value) && Object.keys(carriers).some((one) => one.startsWith(`${key}.`))) {
      for (const [below, one] of Object.entries(value)) carry(one, [...path, below])
    } else if (kind === 'service' || key !== 'image') remark(at, reasonFor(key, kind !== 'service'))
  }
  const build = typeof service.build === 'string' ? { context: service.build } : service.build
  const folder = isRecord(build) ? { build: { context: '.', ...build } } : {}
  const { expose, ...others } = service
  const ordered = { ...others, ...folder, ...(expose === undefined ? {} : { expose }) }
  for (const [key, value] of Object.entries(ordered)) carry(value, [key])
  if (kind !== 'service') becomeDatastore(draft, version, remark)
  return draft
}

const official =
  /^(?:docker\.io\/|[\w.-]+\/docker\/)?(?:library\/)?(postgres|redis)(?::v?(\d+(?:\.\d+)*))?(?=[-@]|$|:)/
const valkey = /(?:^|\/)valkey\/valkey(?=[:@]|$)/

function kindOf({
  build,
  image,
}: Record<string, unknown>): Pick<Draft, 'kind'> & { version?: string | undefined } {
  const text = build === undefined ? String(image ?? '') : ''
  if (valkey.test(text)) return { kind: 'redis' }
  const [, kind, version] = official.exec(text) ?? []
  if (kind === 'postgres') return { kind, version: version?.split('.')[0] }
  return kind === 'redis' ? { kind, version } : { kind: 'service' }
}

function becomeDatastore(draft: Draft, version: string | undefined, remark: Remark): void {
  const { original, kind, env } = draft
  const username = env.get('POSTGRES_USER') || 'postgres'
  const login = kind === 'postgres' ? { username, database: env.get('POSTGRES_DB') || username } : {}
  const password = env.get('POSTGRES_PASSWORD') || env.get('REDIS_PASSWORD')
  draft.fields = { kind, version, ...login }
  draft.login = password ? { ...login, password } : login
  for (const key of env.keys()) {
    if (/^POSTGRES_(USER|DB)$/.test(key)) continue
    const isPassword = key.endsWith('PASSWORD')
    const reason = isPassword ? 'Berth makes a new password: refer to it' : 'a datastore has no variables'
    remark(['services', original, 'environment', key], reason)
  }
}

/** Replaces names of other services by references, and adds one to each service that it depends on. */
function connect(draft: Draft, drafts: Draft[], remark: Remark): void {
  const { original, env, secrets, suspects, needs } = draft
  const others = drafts.filter((one) => one !== draft)
  for (const [key, value] of env) {
    const rewritten = withReferences(key, value, others)
    // The rest of a value from .env may be a password too.
    if (rewritten === null) continue
    const isSafe = !secrets.has(key) || (suspects.has(key) && !hasPassword(rewritten)) || isOpen(rewritten)
    const named = others.filter((one) => rewritten.includes(refer(one, '').slice(0, -2)))
    if (!isSafe) for (const one of named) needs.add(one.original)
    else env.set(key, rewritten)
    if (isSafe) secrets.delete(key)
  }
  for (const key of [...suspects].filter((one) => secrets.has(one)))
    remark(['services', original, 'environment', key], 'it looks secret: berth apply asks for its value')
  for (const other of others) {
    const isReferred = [...env.values()].some((value) => value.includes(refer(other, '').slice(0, -2)))
    if (needs.has(other.original) && !isReferred) {
      const [suffix, property] = other.kind === 'service' ? ['HOST', 'host'] : ['URL', 'connectionString']
      const word = `${other.name.replaceAll('-', '_').toUpperCase()}_${suffix}`
      const key = env.has(word) ? `${word}_2` : word
      env.set(key, refer(other, property!))
      remark(['services', original, 'depends_on', other.original], `the variable ${key} lets it connect`)
    }
    other.isPrivate ||= isReferred || needs.has(other.original)
  }
  const missing = [...needs].filter((need) => drafts.every((one) => one.original !== need))
  for (const need of missing)
    remark(['services', original, 'depends_on', need], 'no service of this name is carried over')
}

/** A datastore is of use only with its password. */
function remarkUnused(drafts: Draft[], remark: Remark): void {
  const values = drafts.flatMap(({ env }) => [...env.values()])
  for (const draft of drafts.filter(({ kind }) => kind !== 'service')) {
    const references = ['connectionString', 'password'].map((property) => refer(draft, property))
    if (references.some((one) => values.some((value) => value.includes(one)))) continue
    remark(['services', draft.original], `no variable has its password: give one ${references.join(' or ')}`)
  }
}

type Entries = Record<string, Record<string, unknown>>

function toBlueprint(drafts: Draft[]): { services: Entries; datastores: Entries } {
  const services: Entries = {}
  const datastores: Entries = {}
  for (const { name, kind, fields, env, secrets, isPublic, isPrivate } of drafts) {
    const type = isPublic ? 'web_service' : isPrivate ? 'private_service' : 'background_worker'
    const open = Object.fromEntries([...env].filter(([key]) => !secrets.has(key)))
    if (kind === 'service') services[name] = { type, ...fields, env: open, secrets: [...secrets] }
    else datastores[name] = fields
  }
  return { services, datastores }
}

/** What a blueprint refuses is named like any other key. */
function withoutInvalid(
  entries: ReturnType<typeof toBlueprint>,
  drafts: Draft[],
  remark: Remark,
): BlueprintFile {
  const blueprint = entries as BlueprintFile
  try {
    parseBlueprint(printBlueprint(blueprint))
    return blueprint
  } catch (error) {
    if (!(error instanceof InvalidBlueprint)) throw error
    for (const { path, message } of error.issues) {
      const [section, name = '', ...field] = path.split('.')
      const original = drafts.find((one) => one.name === name)?.original ?? name
      remark(['services', original], [field.join('.'), message].filter(Boolean).join(': '))
      const named = entries[section as keyof typeof entries]
      if (named === undefined) throw new InvalidYaml(message.replace(/^line \d+: /, ''))
      const entry = named[name]
      const [key, ...rest] = field
      const below = rest.join('.')
      const part = key && entry?.[key]
      if (isRecord(part) && Object.hasOwn(part, below)) delete part[below]
      else if (key) delete entry?.[key]
      else delete named[name]
    }
    return withoutInvalid(entries, drafts, remark)
  }
}
