// The settings of a service as flags, for `create` and `update`.
// Mind: the server judges the values; here only what would not even be a number is refused.
import { type Command, InvalidArgumentError } from 'commander'

type Settings = Record<string, unknown>

interface SettingFlag {
  flags: string
  /** Its name in the API. */
  field: string
  help: string
  parse?: (text: string, former: unknown) => unknown
}

const settingFlags: SettingFlag[] = [
  { flags: '--repo <url>', field: 'repo_url', help: 'git repository to build' },
  { flags: '--image <name>', field: 'image', help: 'image to pull instead' },
  { flags: '--branch <name>', field: 'branch', help: 'branch of the repository (its default one)' },
  { flags: '--root-dir <path>', field: 'root_dir', help: 'where the source is inside the repository' },
  { flags: '--dockerfile <path>', field: 'dockerfile_path', help: 'relative to the root dir (Dockerfile)' },
  { flags: '--start-command <command>', field: 'start_command', help: "instead of the image's own" },
  {
    flags: '--pre-deploy-command <command>',
    field: 'pre_deploy_command',
    help: 'run once before a new version starts, such as migrations',
  },
  {
    flags: '--build-env <key>',
    field: 'build_env',
    help: 'variable that builds get as an argument; can be repeated',
    parse: collect,
  },
  {
    flags: '--build-target <stage>',
    field: 'build_target',
    help: 'stage of the Dockerfile to build (the last one)',
  },
  {
    flags: '--build-arg <KEY=value>',
    field: 'build_args',
    help: "build argument, not for secrets; can be repeated, '' clears all",
    parse: collectPairs,
  },
  {
    flags: '--init <on|off>',
    field: 'init',
    help: 'an init process is process 1 of instances and jobs (on)',
    parse: onOrOff,
  },
  { flags: '--publish-dir <path>', field: 'publish_dir', help: 'what a static site serves' },
  { flags: '--port <number>', field: 'port', help: 'where it listens, 0 is automatic', parse: whole },
  { flags: '--health-path <path>', field: 'health_check_path', help: 'must answer 2xx or 3xx' },
  {
    flags: '--health-timeout <seconds>',
    field: 'health_check_timeout_seconds',
    help: 'until a new version must pass (300)',
    parse: whole,
  },
  {
    flags: '--drain <seconds>',
    field: 'drain_seconds',
    help: 'for open connections to a former version (30)',
    parse: whole,
  },
  { flags: '--instances <number>', field: 'instances', help: 'how many run (1)', parse: whole },
  { flags: '--disk <path>', field: 'disk_mount_path', help: 'where its disk is mounted' },
  { flags: '--memory <mib>', field: 'memory_limit_mb', help: 'limit per instance', parse: whole },
  { flags: '--cpu <number>', field: 'cpu_limit', help: 'CPUs per instance', parse: amount },
  {
    flags: '--spa-fallback',
    field: 'spa_fallback',
    help: 'a static site answers unknown paths with index.html',
  },
  {
    flags: '--hsts <on|off>',
    field: 'hsts',
    help: 'browsers are told to come by HTTPS alone (off)',
    parse: onOrOff,
  },
  {
    flags: '--request-timeout <seconds>',
    field: 'request_timeout_seconds',
    help: 'how long an answer may stay silent (75)',
    parse: whole,
  },
  {
    flags: '--shared-network <on|off>',
    field: 'shared_network',
    help: 'every service may connect to it (off)',
    parse: onOrOff,
  },
  { flags: '--schedule <cron>', field: 'schedule', help: "when a cron job runs: '0 3 * * *', @daily" },
  { flags: '--timezone <zone>', field: 'timezone', help: 'of its schedule, as Europe/Berlin (UTC)' },
  {
    flags: '--overlap <policy>',
    field: 'overlap',
    help: 'due while it still runs: skip, queue or replace (skip)',
  },
  {
    flags: '--job-timeout <seconds>',
    field: 'timeout_seconds',
    help: 'how long its job runs may take (a day)',
    parse: whole,
  },
  { flags: '--max-body <mib>', field: 'max_body_mb', help: "of a request's body (512)", parse: whole },
]

/** These act without a restart. */
const atOnce = [
  'instances',
  'hsts',
  'request_timeout_seconds',
  'max_body_mb',
  'shared_network',
  'schedule',
  'timezone',
  'overlap',
  'timeout_seconds',
]

/** These act when the source is built again; a restart runs the image that is live. */
const inBuilds = [
  'repo_url',
  'branch',
  'image',
  'root_dir',
  'dockerfile_path',
  'publish_dir',
  'build_target',
  'build_args',
  'build_env',
]

export function addSettingFlags(command: Command): Command {
  for (const { flags, help, parse } of settingFlags) {
    if (parse) command.option(flags, help, parse)
    else command.option(flags, help)
  }
  return command
}

/** The settings that were given, under their names in the API. */
export function givenSettings(options: Settings): Settings {
  const given = settingFlags.map(({ flags, field }) => [field, options[attributeOf(flags)]] as const)
  return Object.fromEntries(given.filter(([, value]) => value !== undefined))
}

/** How a setting is spoken of: by its flag, which has no unit in its name. */
export function settingInWords(field: string): string {
  const flags = settingFlags.find((one) => one.field === field)?.flags ?? field
  return flags.replace(/^--/, '').split(' ')[0]!.replaceAll('-', ' ')
}

/** Whether all of them act without a restart. */
export function actAtOnce(settings: Settings): boolean {
  return Object.keys(settings).every((field) => atOnce.includes(field))
}

/** Whether one of them acts with the next build or pull only. */
export function needDeploy(settings: Settings): boolean {
  return Object.keys(settings).some((field) => inBuilds.includes(field))
}

/** A whole number. */
export function whole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number, 0 or more.')
  return Number(text)
}

/** A whole number that is not 0. */
export function positive(text: string): number {
  if (!/^0*[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a whole number, 1 or more.')
  return Number(text)
}

/** Of a flag that can be repeated. */
export function collect(text: string, former: unknown): string[] {
  return [...(Array.isArray(former) ? former : []), text]
}

/** `KEY=value` of a flag that can be repeated; an empty text is no pair. */
function collectPairs(text: string, former: unknown): Record<string, string> {
  const pairs = (former ?? {}) as Record<string, string>
  if (text === '') return pairs
  const end = text.indexOf('=')
  if (end < 1) throw new InvalidArgumentError('It must be KEY=value.')
  return Object.fromEntries([...Object.entries(pairs), [text.slice(0, end), text.slice(end + 1)]])
}

export function onOrOff(text: string): boolean {
  if (text !== 'on' && text !== 'off') throw new InvalidArgumentError('It must be on or off.')
  return text === 'on'
}

export function amount(text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError('It must be a number.')
  return Number(text)
}

/** `--build-env <key>` is kept as `buildEnv`. */
function attributeOf(flags: string): string {
  const [name = ''] = flags.replace(/^--/, '').split(' ')
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
