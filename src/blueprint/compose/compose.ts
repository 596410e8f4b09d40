// Turns a Compose file into a blueprint. Each key that has no counterpart is named, with its line and why.
import { type BlueprintFile, InvalidBlueprint, parseBlueprint } from '../blueprint.ts'
import { printBlueprint } from '../print.ts'
import { InvalidYaml, isRecord, type Path, readYaml, valueAt } from '../yaml.ts'
import { carriers, type Reading } from './carriers.ts'
import { type Draft, listOf, type Variable } from './draft.ts'
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
    return entries.map(({ key, text, at }) => {
      const isNull = text === null || valueAt(file.value, [...path, at]) === null
      const value = isNull ? (surroundings.env.get(key) ?? null) : String(text)
      return { key, value, isPrivate: isNull || privatePaths.has([...path, at].join('.')) }
    })
  }
  if (!isRecord(root) || !isRecord(root.services)) throw new InvalidYaml('there are no services')
  for (const key of Object.keys(root))
    if (key !== 'services' && !key.startsWith('x-')) remark([key], reasonFor(key))
  const drafts = Object.entries(root.services).flatMap(([name, service]) => {
    const at = ['services', name]
    if (!isRecord(service)) return []
    if (service.profiles === undefined)
      return toDraft(name, service, { ...surroundings, remark, variablesAt })
    remark([...at, 'profiles'], 'the service is left out: Compose starts it only on request')
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

interface Context extends Surroundings {
  remark: Remark
  variablesAt(value: unknown, path: Path): Variable[]
}

function toDraft(original: string, service: Record<string, unknown>, context: Context): Draft {
  const { remark } = context
  const name = original
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+|-$/g, '')
  if (name !== original) remark(['services', original], `it is called ${name} here, as names are`)
  const sets = { env: new Map<string, string>(), secrets: new Set<string>(), needs: new Set<string>() }
  const { kind, version } = kindOf(service)
  const draft: Draft = {
    original,
    name,
    kind,
    fields: {},
    ...sets,
    isPublic: false,
    isPrivate: false,
    login: {},
  }
  const carry = (value: unknown, path: string[]) => {
    const key = path.join('.')
    const at = ['services', original, ...path]
    const carrier = kind === 'service' || /^env/.test(key) ? carriers[key] : undefined
    if (carrier) {
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
  for (const [key, value] of Object.entries({ ...service, ...folder })) carry(value, [key])
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
  const { original, env, secrets, needs } = draft
  const others = drafts.filter((one) => one !== draft)
  for (const [key, value] of env) {
    const rewritten = withReferences(key, value, others)
    // The rest of a value from .env may be a password too.
    if (rewritten === null || (secrets.has(key) && !isOpen(rewritten))) continue
    env.set(key, rewritten)
    secrets.delete(key)
  }
  for (const other of others) {
    const isReferred = [...env.values()].some((value) => value.includes(refer(other, '').slice(0, -2)))
    if (needs.has(other.original) && !isReferred) {
      const [suffix, property] = other.kind === 'service' ? ['HOST', 'host'] : ['URL', 'connectionString']
      const key = `${other.name.replaceAll('-', '_').toUpperCase()}_${suffix}`
      if (!env.has(key)) env.set(key, refer(other, property!))
      remark(['services', original, 'depends_on', other.original], `the variable ${key} lets it connect`)
    }
    other.isPrivate ||= isReferred || needs.has(other.original)
  }
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
      remark(['services', original], [...field, message].join(': '))
      const named = entries[section as keyof typeof entries]
      if (field[0]) delete named[name]?.[field[0]]
      else delete named[name]
    }
    return withoutInvalid(entries, drafts, remark)
  }
}
