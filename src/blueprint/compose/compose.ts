// Turns a Compose file into a blueprint. Each key that has no counterpart is named, with its line and why.
import { Name } from '../../api/parts/fields.ts'
import { type BlueprintFile, InvalidBlueprint, parseBlueprint } from '../blueprint.ts'
import { printBlueprint } from '../print.ts'
import { hasPassword, type Secret, secretsFile } from '../secrets.ts'
import { InvalidYaml, isRecord } from '../yaml.ts'
import { carriers } from './carriers.ts'
import { type ComposeText, type Remark, readCompose, type Surroundings } from './compose-text.ts'
import { becomeDatastore, kindOf, nameDatabases } from './datastores.ts'
import { type Draft, listOf } from './draft.ts'
import { referToLogins } from './logins.ts'
import { moveOneOffCommands } from './once.ts'
import { reasonFor } from './reasons.ts'
import { isOpen, isReferredTo, refer, withReferences } from './references.ts'
import { readEnvFile, readVariables } from './variables.ts'

export interface Remaining {
  line: number
  /** `services.web.privileged` */
  what: string
  reason: string
}

export interface Imported {
  blueprint: BlueprintFile
  remaining: Remaining[]
  /** Those whose values the Compose file or its surroundings have. */
  secrets: Secret[]
}

/** Each is compared with all others. */
const maxServices = 500

/** Throws InvalidYaml. */
export function importCompose(text: string, files: Surroundings): Imported {
  const found: { path: Parameters<Remark>[0]; reason: string }[] = []
  const remark: Remark = (path, reason) => found.push({ path, reason })
  const compose = readCompose(text, files.env, remark)
  const { root } = compose
  const { services } = root
  if (!isRecord(services)) throw new InvalidYaml('there are no services')
  for (const key of Object.keys(root))
    if (key !== 'services' && !key.startsWith('x-')) remark([key], reasonFor(key))
  const taken = new Set(Object.keys(services))
  if (taken.size > maxServices) throw new InvalidYaml(`it has more than ${maxServices} services`)
  const aliases = linksOf(services)
  const context: Context = {
    compose,
    files,
    remark,
    taken,
    owners: new Map(),
    aliases,
    pendingMounts: new Map(),
  }
  const all = Object.entries(services).flatMap(([name, service]) => {
    const at = ['services', name]
    const isOnRequest = isRecord(service) && listOf(service.profiles).length > 0
    if (isRecord(service) && !isOnRequest) return toDraft(name, service, context)
    if (isOnRequest) remark([...at, 'profiles'], 'the service is left out: Compose starts it only on request')
    else remark(at, 'the service is left out: it has no keys')
    return []
  })
  nameDatabases(all)
  // A volume of several services is the disk of one that stays.
  const waited = new Set(all.flatMap(({ waits }) => [...waits]))
  const rank = ([original]: [string, unknown]) => Number(waited.has(original))
  const ordered = [...context.pendingMounts].toSorted((one, other) => rank(one) - rank(other))
  for (const [, carryMounts] of ordered) carryMounts()
  const drafts = moveOneOffCommands(all, remark)
  const names = new Set(all.map(({ original }) => original))
  for (const draft of drafts.filter(({ kind }) => kind === 'service')) connect(draft, drafts, names, remark)
  remarkUnused(drafts, remark)
  const blueprint = withoutInvalid(toBlueprint(drafts), drafts, remark)
  const remaining = found.map(({ path, reason }) => {
    return { line: compose.lineOf(path), what: path.map(String).join('.'), reason }
  })
  return {
    blueprint,
    remaining: remaining.toSorted((one, other) => one.line - other.line),
    secrets: drafts.flatMap(({ name, env }) =>
      [...env.values()]
        .filter(({ key }) => blueprint.services?.[name]?.secrets?.includes(key))
        .flatMap(({ key, value, isUnknown }) => (isUnknown ? [] : [{ service: name, key, value }])),
    ),
  }
}

interface Context {
  compose: ComposeText
  files: Surroundings
  remark: Remark
  /** Names that another service has here, or wants. */
  taken: Set<string>
  owners: Map<string, string>
  aliases: Map<string, string[]>
  /** By service. They need all services. */
  pendingMounts: Map<string, () => void>
}

/** The names that `links: [db:database]` gives other services. */
function linksOf(services: Record<string, unknown>): Map<string, string[]> {
  const links = Object.values(services).flatMap((one) => (isRecord(one) ? listOf(one.links) : []))
  const pairs = links.map((link) => String(link).split(':'))
  return new Map(
    pairs.map(([name = '']) => [
      name,
      pairs.filter((one) => one[0] === name && one[1]).map((one) => one[1]!),
    ]),
  )
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
  const { remark, compose, files, owners } = context
  const name = freeName(original, context.taken)
  if (name !== original) remark(['services', original], `it is called ${name} here, as names are`)
  const { kind, version } = kindOf(service)
  const networks = Object.values(isRecord(service.networks) ? service.networks : {})
  const aliases = networks.flatMap((one) => (isRecord(one) ? listOf(one.aliases) : []))
  const links = context.aliases.get(original) ?? []
  const hosts = [original, service.container_name, service.hostname, ...aliases, ...links].map((host) =>
    String(host ?? ''),
  )
  const draft: Draft = {
    original,
    hosts: hosts.filter((host) => /^[\w.-]+$/.test(host)),
    name,
    kind,
    fields: {},
    env: new Map(),
    needs: new Set(),
    waits: new Set(),
    isPublic: false,
    isPrivate: false,
    login: {},
  }
  const carry = (value: unknown, path: string[]) => {
    const key = path.join('.')
    const at = ['services', original, ...path]
    const isCarried = Object.hasOwn(carriers, key) && (kind === 'service' || ofDatastores.test(key))
    const carrier = isCarried ? carriers[key] : undefined
    const isWritten = /^(command|entrypoint|healthcheck\.test)$/.test(key)
    const isGiven = () =>
      [at, ...listOf(value).map((_, index) => [...at, index])].some(
        (one) => compose.isPrivate(one) || compose.isUnknown(one),
      )
    const isText = !/^(environment|build\.args|depends_on|env_file|ports|volumes)$/.test(key)
    if (carrier && isText && [value, ...listOf(value)].some(isRecord)) remark(at, 'it is no text')
    else if (carrier && isWritten && (hasPassword(listOf(value).join(' ')) || isGiven()))
      remark(at, 'it has a value of .env or a password, which is not written')
    else if (carrier) {
      const variables = () => readVariables(value, at, compose, { remark, files })
      const envFile = (path: string) => readEnvFile(path, compose, files)
      const reading = { service, root: compose.root, files, owners, variables, envFile }
      const left = carrier(draft, value, reading) ?? []
      for (const [reason, below] of typeof left === 'string' ? [[left]] : left)
        remark(below === undefined ? at : [...at, below], reason as string)
    } else if (isRecord(value) && Object.keys(carriers).some((one) => one.startsWith(`${key}.`))) {
      for (const [below, one] of Object.entries(value)) carry(one, [...path, below])
    } else if (kind === 'service' || key !== 'image') remark(at, reasonFor(key, kind !== 'service'))
  }
  const build = typeof service.build === 'string' ? { context: service.build } : service.build
  const folder = isRecord(build) ? { build: { context: '.', ...build } } : {}
  const { expose, volumes, ...others } = service
  const ordered = { ...others, ...folder, ...(expose === undefined ? {} : { expose }) }
  for (const [key, value] of Object.entries(ordered)) carry(value, [key])
  if (kind !== 'service') becomeDatastore(draft, { service, version, compose, remark })
  if (volumes !== undefined) context.pendingMounts.set(original, () => carry(volumes, ['volumes']))
  return draft
}

/** Keys of a service that becomes a datastore. */
const ofDatastores = /^(env|volumes$|mem_limit$|cpus$|deploy\.resources\.limits\.)/

/** Replaces names of other services by references, and adds one to each service that it depends on. */
function connect(draft: Draft, drafts: Draft[], names: Set<string>, remark: Remark): void {
  const { original, env, needs, waits } = draft
  const others = drafts.filter((one) => one !== draft)
  for (const [key, variable] of env) {
    const { value, isSecret, isSuspect } = variable
    const rewritten = withReferences(key, value, others)
    // The rest of a value from .env may be a password too.
    if (rewritten === null) continue
    const isSafe = !isSecret || (isSuspect && !hasPassword(rewritten)) || isOpen(rewritten)
    const named = others.filter((one) => isReferredTo(one, [rewritten]))
    if (!isSafe) for (const one of named) needs.add(one.original)
    else env.set(key, { ...variable, value: rewritten, isSecret: false, isUnknown: false })
  }
  referToLogins(draft, others, (key, reason) => remark(['services', original, 'environment', key], reason))
  for (const { key } of [...env.values()].filter(({ isSuspect, isSecret }) => isSuspect && isSecret))
    remark(['services', original, 'environment', key], `it looks secret: its value is in ${secretsFile}`)
  for (const other of others) {
    const isReferred = isReferredTo(
      other,
      [...env.values()].map(({ value }) => value),
    )
    if (needs.has(other.original) && !isReferred) {
      const [suffix, property] = other.kind === 'service' ? ['HOST', 'host'] : ['URL', 'connectionString']
      const word = `${other.name.replaceAll('-', '_').toUpperCase()}_${suffix}`
      const key = env.has(word) ? `${word}_2` : word
      const value = refer(other, property!)
      env.set(key, { key, value, isUnknown: false, isSecret: false, isSuspect: false, source: null })
      remark(['services', original, 'depends_on', other.original], `the variable ${key} lets it connect`)
    }
    other.isPrivate ||= isReferred || needs.has(other.original)
  }
  for (const need of [...needs, ...waits].filter((one) => !names.has(one)))
    remark(['services', original, 'depends_on', need], 'no service of this name is carried over')
}

/** A datastore is of use only with its password. */
function remarkUnused(drafts: Draft[], remark: Remark): void {
  const values = drafts.flatMap(({ env }) => [...env.values()].map(({ value }) => value))
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
  for (const { name, kind, fields, env, isPublic, isPrivate } of drafts) {
    const type = isPublic ? 'web_service' : isPrivate ? 'private_service' : 'background_worker'
    const variables = [...env.values()]
    const open = variables.filter(({ isSecret }) => !isSecret).map(({ key, value }) => [key, value])
    const secrets = variables.filter(({ isSecret }) => isSecret).map(({ key }) => key)
    if (kind === 'service') services[name] = { type, ...fields, env: Object.fromEntries(open), secrets }
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
