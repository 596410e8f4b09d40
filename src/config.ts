// The options of `berthd`: each flag has its variable (`--build-concurrency` is BERTH_BUILD_CONCURRENCY).
// Mind: a bad value stops the start with a message that names the option; nothing falls back silently.
import { isIP, isIPv4 } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Failure } from './errors.ts'

interface Option<T> {
  help: string
  fallback: string
  parse(text: string): T
}

const text = (pattern: RegExp, what: string) => (value: string) => {
  if (!pattern.test(value)) throw new Error(`is not ${what}`)
  return value
}
const integer = (least: number, most: number) => (value: string) => {
  const number = Number(value)
  if (!/^\d+$/.test(value) || number < least || number > most) {
    throw new Error(`is not a whole number from ${least} to ${most}`)
  }
  return number
}
const integerOrZero = (least: number, most: number) => (value: string) => {
  if (value === '0') return 0
  try {
    return integer(least, most)(value)
  } catch (error) {
    throw new Error(`${(error as Error).message}, or 0`)
  }
}
const oneOf =
  <T extends string>(...words: T[]) =>
  (value: string) => {
    if (!(words as string[]).includes(value)) throw new Error(`is not one of ${words.join(', ')}`)
    return value as T
  }
const cpus = (value: string) => {
  const number = Number(value)
  if (!/^\d+(\.\d+)?$/.test(value) || number < 0.01 || number > 512)
    throw new Error('is not a number from 0.01 to 512')
  return number
}
const option = <T>(help: string, fallback: string, parse: (value: string) => T): Option<T> => ({
  help,
  fallback,
  parse,
})

const listenAddress = (value: string) => {
  const [, host, port] = /^(\[[0-9a-fA-F:.]+\]|[^\s:[\]]+):(\d{1,5})$/.exec(value) ?? []
  if (!host || Number(port) > 65_535) throw new Error('is not HOST:PORT (an IPv6 address in brackets)')
  return value.toLowerCase()
}
const network = (value: string) => {
  if (!value.endsWith('/16') || isIPv4(value.slice(0, -3)) === false) throw new Error('is not a /16 network')
  return value
}

const addresses = (value: string) => {
  const list = value.split(',').map((part) => part.trim())
  const known = list.filter((part) => part !== '')
  const stranger = known.find((part) => !isAddressOrNetwork(part))
  if (stranger !== undefined) throw new Error('is not a list of addresses or networks')
  return known
}

function isAddressOrNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}

const hostName = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/
const day = 24 * 60 * 60

/** Every option, in the order of the help text. */
const options = {
  'data-dir': option(
    'where everything is kept (mode 0700)',
    join(homedir(), '.local/share/berth'),
    text(/^\//, 'an absolute path'),
  ),
  listen: option('address and port of the API', '127.0.0.1:7878', listenAddress),
  docker: option(
    'the Docker engine',
    'unix:///var/run/docker.sock',
    text(/^(unix:\/\/\/\S+|tcp:\/\/[^\s:/]+:\d+)$/, 'unix:///path or tcp://host:port'),
  ),
  prefix: option(
    'names and labels in Docker start with it',
    'berth',
    text(/^[a-z][a-z0-9-]{0,30}$/, 'lower-case letters, digits and dashes, beginning with a letter'),
  ),
  subnet: option('private network of the instances', '10.201.0.0/16', network),
  'base-domain': option('services get names below it', 'localhost', text(hostName, 'a domain')),
  'dashboard-host': option(
    'another host name the API may be asked by',
    '',
    text(/^[a-z0-9.-]*$/, 'a host name'),
  ),
  'trusted-proxy': option(
    'addresses or networks, with commas, whose X-Forwarded-* are believed',
    '',
    addresses,
  ),
  builder: option('what builds images: buildkit or classic', 'buildkit', oneOf('buildkit', 'classic')),
  'build-concurrency': option('builds at a time', '2', integer(1, 64)),
  'build-memory-limit': option(
    'MiB of a step of a build, 0 for no limit; with --builder classic',
    '0',
    integerOrZero(16, 1024 * 1024),
  ),
  'default-memory-limit': option(
    'MiB of an instance whose service sets none',
    '512',
    integer(16, 1024 * 1024),
  ),
  'default-cpu-limit': option('CPUs of an instance whose service sets none', '1', cpus),
  'pids-limit': option('processes of an instance', '1024', integer(16, 1_000_000)),
  'keep-images': option('images kept per service', '5', integer(1, 1000)),
  'static-image': option(
    'image that serves /site of a static site on $PORT; else one is made of Debian packages',
    '',
    text(/^[\w.:/@-]*$/, 'an image'),
  ),
  'min-free-disk': option(
    'MiB that must be free for a deploy to begin',
    '1024',
    integer(0, 1024 * 1024 * 1024),
  ),
  'fetch-timeout': option('seconds a fetch may take', '600', integer(1, day)),
  'build-timeout': option('seconds a build may take, from when it has its slot', '3600', integer(1, day)),
  'start-timeout': option('seconds the start of instances may take', '120', integer(1, day)),
  'log-level': option('debug, info, warn or error', 'info', oneOf('debug', 'info', 'warn', 'error')),
} as const

type Options = typeof options
export type Config = { [Name in keyof Options]: ReturnType<Options[Name]['parse']> }

/** Reads flags, then variables, then defaults. Throws `invalid_option`; its message names the option. */
export function readConfig(args: string[], env: NodeJS.ProcessEnv): Config {
  const flags = parseFlags(args)
  const entries = Object.entries(options).map(([name, { fallback, parse }]) => {
    const variable = variableOf(name)
    const standard = standards(env)[name]
    const given = [
      { from: `--${name}`, value: flags[name] },
      { from: variable, value: env[variable] },
      { from: standard?.from ?? variable, value: standard?.value || fallback },
    ]
    // An empty variable is one that is not set; an empty flag is a mistake.
    const isGiven = ({ from, value }: { from: string; value: string | undefined }) =>
      value !== undefined && (value !== '' || from.startsWith('--'))
    const { from, value } = given.find(isGiven) ?? given.at(-1)!
    try {
      return [name, parse(value!)]
    } catch (error) {
      throw new Failure('invalid_option', `${from}: '${value}' ${(error as Error).message}`)
    }
  })
  const config = Object.fromEntries(entries) as Config
  refuseWhatHasNoEffect(config)
  return config
}

function refuseWhatHasNoEffect({ builder, 'build-memory-limit': limit }: Config): void {
  if (builder === 'classic' || limit === 0) return
  const reason = 'has no effect on BuildKit, which honours no limit: it needs --builder classic'
  throw new Failure('invalid_option', `--build-memory-limit: '${limit}' ${reason}`)
}

/** Of `--listen`: the name as it stands in a URL, an IPv6 address in brackets. */
export function parseListen(listen: string): { name: string; port: number } {
  const split = listen.lastIndexOf(':')
  return { name: listen.slice(0, split), port: Number(listen.slice(split + 1)) }
}

/** The help text: every option with its variable and default. */
export function helpText(): string {
  const lines = Object.entries(options).map(([name, { help, fallback }]) => {
    const shown = fallback === '' ? '' : ` (${fallback})`
    return `  ${`--${name}`.padEnd(24)}${help}${shown}`
  })
  return [
    'berthd: the Berth deployment server',
    '',
    'usage: berthd [options]',
    '       berthd reset-password [--data-dir DIR]',
    '',
    ...lines,
    `  ${'--help, --version'.padEnd(24)}say this, or the version, and exit`,
    '',
    'Each option has a variable: --build-concurrency is BERTH_BUILD_CONCURRENCY.',
    '',
  ].join('\n')
}

function parseFlags(args: string[]): Record<string, string | undefined> {
  const known = Object.keys(options).map((name) => [name, { type: 'string' as const }])
  try {
    return parseArgs({ args, options: Object.fromEntries(known) }).values as Record<string, string>
  } catch (error) {
    throw new Failure('invalid_option', (error as Error).message, 'berthd --help lists the options')
  }
}

function variableOf(name: string): string {
  return `BERTH_${name.toUpperCase().replaceAll('-', '_')}`
}

/** What other programs' variables say, where nothing of Berth's own does. */
function standards(env: NodeJS.ProcessEnv): Record<string, { from: string; value: string | undefined }> {
  const data = env.XDG_DATA_HOME ? join(env.XDG_DATA_HOME, 'berth') : undefined
  const state = { from: 'STATE_DIRECTORY', value: env.STATE_DIRECTORY }
  return {
    'data-dir': state.value === undefined ? { from: 'XDG_DATA_HOME', value: data } : state,
    docker: { from: 'DOCKER_HOST', value: env.DOCKER_HOST },
  }
}

/** The help of `berthd reset-password`. */
export const resetHelp = `usage: berthd reset-password [--data-dir DIR]

Sets a new password for the account of this server, also while it runs. It is
asked for twice, without echo; or it is one line of standard input:

  berthd reset-password --data-dir /var/lib/berth
  berthd reset-password < new-password.txt

All sessions end; API tokens stay.
`
