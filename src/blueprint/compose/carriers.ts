// The keys of a Compose service that have a counterpart in a blueprint.
import { posix } from 'node:path'
import { envKeyPattern, envKeyRule } from '../../domain/env-file.ts'
import { isRecord } from '../yaml.ts'
import { carryCommand, carryEntrypoint } from './commands.ts'
import { type Draft, listOf, type Variable } from './draft.ts'
import { carryMounts, type Mounting, nameDatastoreMounts } from './mounts.ts'

/** What a carrier reads besides the value of its key. */
export interface Reading extends Mounting {
  /** The value as variables: of a list, or of a map. */
  variables(): Variable[]
  /** Null for a file that cannot be read. */
  envFile(path: string): Variable[] | null
}

/** What is not carried over: the reason, and the key below if it is only a part. */
// biome-ignore lint/suspicious/noConfusingVoidType: a key that is carried over as a whole returns nothing
type Left = string | [reason: string, key: string | number][] | void

// biome-ignore lint/suspicious/noConfusingVoidType: the same
type Reason = string | void

type Carrier = (draft: Draft, value: unknown, reading: Reading) => Left

/** A key with the same meaning as a setting. `convert` returns null for what has none. */
function as(name: string, convert: (text: string) => unknown = String): Carrier {
  return ({ fields }, value) => {
    const converted = convert(String(value))
    if (converted === null) return `'${value}' is no value that Berth can set`
    fields[name] = converted
  }
}

/** By path; a map whose own path is missing is carried key by key. */
export const carriers: Record<string, Carrier> = {
  'build.target': as('build_target'),
  'build.dockerfile': as('dockerfile_path'),
  'deploy.replicas': as('instances', positive),
  scale: as('instances', positive),
  'deploy.resources.limits.cpus': as('cpu_limit', positive),
  cpus: as('cpu_limit', positive),
  'deploy.resources.limits.memory': as('memory_limit_mb', mebibytes),
  mem_limit: as('memory_limit_mb', mebibytes),
  init: as('init', (text) => (/^(true|false)$/i.test(text) ? /^true$/i.test(text) : null)),
  image({ fields }, value, { service }) {
    if (service.build !== undefined) return 'it is the name of what is built'
    fields.image = value
  },
  'build.context'({ fields }, value, { files: { base } }) {
    const [address = '', fragment = ''] = String(value).split('#')
    const [branch, rootDir] = fragment.split(':')
    const isRemote = /^(https?:\/\/|ssh:\/\/|git@|git:\/\/)/.test(address)
    const folder = posix.join(base, address).replace(/(?<=.)\/$/, '')
    if (isRemote) Object.assign(fields, { repo_url: address, branch, root_dir: rootDir })
    else fields.folder = folder.startsWith('.') ? folder : `./${folder}`
  },
  'build.args'(draft, _, { variables }) {
    const all = variables()
    const hidden = all.filter(({ isSecret }) => isSecret)
    const open = all.filter(({ isSecret }) => !isSecret)
    draft.fields.build_args = Object.fromEntries(open.map(({ key, value }) => [key, value]))
    draft.fields.build_env = hidden.map(({ key }) => key)
    return setVariables(draft, hidden)
  },
  entrypoint: (draft, value, { service }) => carryEntrypoint(draft, value, service.command),
  command: (draft, value, { service, files }) =>
    carryCommand(draft, value, { service, readText: (path) => files.readText?.(path) ?? null }),
  environment: (draft, _, { variables }) => setVariables(draft, variables()),
  env_file(draft, value, { envFile }) {
    const paths = listOf(value).map((entry) => String(isRecord(entry) ? entry.path : entry))
    return paths.flatMap((path, index) => {
      const found = envFile(path)
      setVariables(draft, found?.filter(({ key }) => !draft.env.has(key)) ?? [])
      const isOutside = found !== null && (path.startsWith('/') || posix.normalize(path).startsWith('../'))
      if (isOutside) return [[`${path} is not in this folder: its values become variables`, index]]
      return found === null ? [[`${path} cannot be read`, index]] : []
    })
  },
  ports: (draft, value) => eachOf(value, (entry) => carryPort(draft, entry)),
  expose(draft, value) {
    draft.isPrivate = true
    return eachOf(value, (entry) => {
      const port = portOf(String(entry).replace('/tcp', ''))
      const { fields } = draft
      if (port !== null) fields.port ??= port
      if (port === null || fields.port !== port) return `a service has one port, and '${entry}' is not it`
    })
  },
  volumes: (draft, value, mounting) =>
    (draft.kind === 'service' ? carryMounts : nameDatastoreMounts)(draft, value, mounting),
  'healthcheck.test'({ fields }, value) {
    const found = healthUrl.exec(listOf(value).join(' '))
    if (!found) return 'Berth checks that the port answers, or health_check_path'
    fields.health_check_path = found[1] ?? '/'
  },
  restart: (_, value) =>
    /^(no|on-failure)/.test(String(value)) ? 'Berth restarts whatever ends' : undefined,
  depends_on: carryNeeds,
  links: carryNeeds,
}

function eachOf(value: unknown, carry: (entry: unknown) => Reason): Left {
  return listOf(value).flatMap((entry, index) => {
    const reason = carry(entry)
    return reason ? [[reason, index] as [string, number]] : []
  })
}

function setVariables({ env }: Draft, variables: Variable[]): Left {
  for (const one of variables.filter(({ key }) => envKeyPattern.test(key)))
    env.set(one.key, { ...one, value: one.value.replaceAll('${{', () => '$${{') })
  const invalid = variables.filter(({ key }) => !envKeyPattern.test(key))
  return invalid.map(({ key }) => [`the name of a variable ${envKeyRule}`, key])
}

/** Of a command such as `curl -f http://localhost:3000/health || exit 1`. */
const healthUrl = /https?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(?::\d+)?(\/[^\s'"|;)?]*)?/

/** Ports of other protocols. */
const notHttp = new Set([
  21, 22, 25, 53, 110, 143, 465, 587, 993, 995, 1433, 1883, 3306, 5432, 5672, 6379, 9042, 9092, 9300, 11211,
  27017,
])

function carryPort(draft: Draft, entry: unknown): Reason {
  const [text = '', suffix = 'tcp'] = String(entry).split('/')
  const parts = text.split(':')
  const short = { target: parts.pop(), published: parts.pop(), host_ip: parts.join(':'), protocol: suffix }
  const { target, published, host_ip = '', protocol = 'tcp' } = isRecord(entry) ? entry : short
  const port = portOf(target)
  if (protocol !== 'tcp') return 'Berth routes HTTP only'
  if (port === 443 && draft.fields.port !== undefined) return 'not needed: Berth serves HTTPS itself'
  if (port === null || draft.fields.port !== undefined)
    return `a service has one port, and '${target ?? ''}' is not it`
  draft.fields.port = port
  draft.isPrivate = true
  if (notHttp.has(port)) return `port ${port} is not HTTP: only other services reach it`
  draft.isPublic = !/^127\.|^localhost$|^\[?::1/.test(String(host_ip))
  if (!draft.isPublic) return 'it was open to this host only, so it is a private_service'
  if (published && !/^(80|443)$/.test(String(published)))
    return `it gets an address in place of port ${published}`
}

/** Null for a range, and for what is no port. */
function portOf(value: unknown): number | null {
  const port = /^\d{1,5}$/.test(String(value)) ? Number(value) : 0
  return port >= 1 && port <= 65_535 ? port : null
}

function carryNeeds({ needs, waits }: Draft, value: unknown): Left {
  const entries = isRecord(value) ? Object.entries(value) : listOf(value).map((name) => [String(name), null])
  for (const [name, options] of entries as [string, unknown][]) {
    const runsOnce = isRecord(options) && options.condition === 'service_completed_successfully'
    if (runsOnce) waits.add(name)
    else needs.add(name.split(':')[0]!)
  }
}

function positive(text: string): number | null {
  return /^(\d+|\d*\.\d+)$/.test(text) && Number(text) > 0 ? Number(text) : null
}

function mebibytes(text: string): number | null {
  const [, number = '', unit = ''] = /^([\d.]+)\s*([kmgt]?)i?b?$/i.exec(text) ?? []
  const size = positive(number)
  return size && Math.ceil(size * 1024 ** (' kmgt'.indexOf(unit.toLowerCase() || ' ') - 2))
}
