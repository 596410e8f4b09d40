// The options of `berthd`: each flag has its variable (`--build-concurrency` is BERTH_BUILD_CONCURRENCY).
// A bad value stops the start with a message that names the option; nothing falls back silently.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { isLoopbackHost } from '../address-classes.ts'
import { Failure } from '../errors.ts'
import type { Option } from './option-values.ts'
import { isRemoved, options, removedOptions } from './options.ts'

type Options = typeof options
export type Config = { [Name in keyof Options]: ReturnType<Options[Name]['parse']> }

/** Reads flags, then variables, then defaults. Throws `invalid_option`; its message names the option. */
export function readConfig(args: string[], env: NodeJS.ProcessEnv): Config {
  const flags = parseFlags(args)
  const entries = Object.entries(options).map(([name, { fallback, parse }]) => {
    const variable = variableOf(name)
    const standard = systemDefaults(env)[name]
    const candidates = [
      { from: `--${name}`, value: flags[name] },
      { from: variable, value: env[variable] },
      { from: standard?.from ?? variable, value: standard?.value || fallback },
    ]
    // An empty variable counts as unset; an empty flag is an error.
    const isGiven = ({ from, value }: { from: string; value: string | undefined }) =>
      value !== undefined && (value !== '' || from.startsWith('--')) && !isRemoved(name, value)
    const { from, value } = candidates.find(isGiven) ?? candidates.at(-1)!
    try {
      return [name, parse(value!)]
    } catch (error) {
      throw new Failure('invalid_option', `${from}: '${value}' ${(error as Error).message}`)
    }
  })
  return Object.fromEntries(entries) as Config
}

/** A warning for each option or value of an earlier version that is given and ignored. */
export function removedOptionWarnings(args: string[], env: NodeJS.ProcessEnv): string[] {
  const flags = parseFlags(args)
  return removedOptions.flatMap(({ name, value: pattern, instead }) => {
    const given = Object.entries({ [`--${name}`]: flags[name], [variableOf(name)]: env[variableOf(name)] })
    return given
      .filter(([, value]) => value && isRemoved(name, value))
      .map(([from, value]) => `${pattern ? `${from}=${value}` : from} no longer exists: ${instead}`)
  })
}

/** The name is as in a URL: an IPv6 address has brackets. Sockets take the host, which has none. */
export function parseListen(listen: string): { name: string; host: string; port: number } {
  const split = listen.lastIndexOf(':')
  const name = listen.slice(0, split)
  return { name, host: name.replace(/^\[|\]$/g, ''), port: Number(listen.slice(split + 1)) }
}

/** The column of the help texts; a longer option name shifts its own. */
const helpColumn = 24

export function helpText(): string {
  const lines = Object.entries(options).map(([name, { help, fallback }]) => {
    const defaultText = fallback === '' ? '' : ` (${fallback})`
    return `  ${`--${name} `.padEnd(helpColumn)}${help}${defaultText}`
  })
  return [
    'berthd: the Berth deployment server',
    '',
    'usage: berthd [options]',
    '       berthd doctor [options] [--all] [--json]',
    '       berthd reset-password [--data-dir DIR] [--revoke-tokens]',
    '       berthd backup FOLDER    an encrypted copy of the whole server',
    '       berthd backup-key       a new recovery key for backups',
    '       berthd restore FILE     a data directory from a backup',
    '       berthd activate         lets a restored server run its schedules',
    '       berthd setup-link       the link that creates the account',
    '',
    ...lines,
    `  ${'--help, --version'.padEnd(helpColumn)}print this help or the version, and exit`,
    '',
    'Each option has a variable: --build-concurrency is BERTH_BUILD_CONCURRENCY.',
    'A running server has the manual at /docs.',
    '',
  ].join('\n')
}

function parseFlags(args: string[]): Record<string, string | undefined> {
  const names = [...Object.keys(options), ...removedOptions.map(({ name }) => name)]
  const known = names.map((name) => [name, { type: 'string' as const }])
  const written = args.map((arg, index) => (isBareFlag(arg, args[index + 1]) ? `${arg}=yes` : arg))
  try {
    const { values } = parseArgs({ args: written, options: Object.fromEntries(known) })
    return values as Record<string, string>
  } catch (error) {
    throw new Failure('invalid_option', (error as Error).message, 'berthd --help lists the options')
  }
}

function isBareFlag(arg: string, next = '--'): boolean {
  const known: Record<string, Option<unknown> | undefined> = options
  return known[arg.replace(/^--/, '')]?.isFlag === true && next.startsWith('--')
}

function variableOf(name: string): string {
  return `BERTH_${name.toUpperCase().replaceAll('-', '_')}`
}

/** Defaults from variables of other programs, such as DOCKER_HOST. */
function systemDefaults(env: NodeJS.ProcessEnv): Record<string, { from: string; value: string | undefined }> {
  const data = env.XDG_DATA_HOME ? join(env.XDG_DATA_HOME, 'berth') : undefined
  const state = { from: 'STATE_DIRECTORY', value: env.STATE_DIRECTORY }
  return {
    'data-dir': state.value === undefined ? { from: 'XDG_DATA_HOME', value: data } : state,
    docker: { from: 'DOCKER_HOST', value: env.DOCKER_HOST },
  }
}

interface ClearTextListener {
  listener: string
  /** The traffic that can be read or changed on its way, and the remedy. */
  warning: string
}

/** Unencrypted listeners that other machines can reach: the daemon logs a warning for each on startup. */
export function clearTextListeners(config: Config): ClearTextListener[] {
  const listeners: ClearTextListener[] = []
  const { name } = parseListen(config.listen)
  if (!isLoopbackHost(name)) {
    const warning =
      'the API is not encrypted there: passwords, tokens and env can be read in transit; keep it on ' +
      '127.0.0.1 and use --dashboard-host (https), or let only a TLS proxy reach it'
    listeners.push({ listener: `--listen ${config.listen}`, warning })
  }
  const bind = config['datastore-bind']
  if (!isLoopbackHost(bind)) {
    const warning =
      'datastores are not encrypted there, and the user of a Postgres is its superuser: let only a private ' +
      'network reach these ports'
    listeners.push({ listener: `--datastore-bind ${bind}`, warning })
  }
  if (config.edge !== 'off' && config['base-domain'] !== 'localhost' && config['acme-email'] === '') {
    const warning = 'services are not encrypted there: without --acme-email there are no certificates'
    listeners.push({ listener: `--http-port ${config['http-port']}`, warning })
  }
  return listeners
}
