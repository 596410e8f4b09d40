// The descriptor of a service setting: default, service types, when a change takes effect, meaning, CLI flag.
import type { ServiceSettings, ServiceType } from '../../storage/services.ts'
import { listens } from './service-types.ts'

/** Fields that cannot be set yet, or that have their own commands. */
export const unsettableNames = ['type', 'auto_deploy', 'watch_paths', 'build_command', 'suspended'] as const
export type SettingName = Exclude<keyof ServiceSettings, (typeof unsettableNames)[number]> | 'shared_network'

export interface Setting<Value = unknown> {
  /** Stored when the setting is omitted or cleared. */
  default: Value
  /** A restart reruns the live image. A build setting takes effect at the next build or pull. */
  takesEffect: 'immediately' | 'at restart' | 'at build'
  /** The description in the OpenAPI document. */
  meaning: string
  /** Null for a setting with its own command. */
  flag: Flag | null
  /** The error message for service types without this setting; null for types with it. */
  refusal?: (type: ServiceType) => string | null
  /** Converts a value to its stored form. */
  normalize?: (value: NonNullable<Value>) => Value
}

export interface Flag {
  /** `--repo <url>` */
  flags: string
  help: string
  /** The type of the text; undefined means plain text. */
  value?: 'whole number' | 'mebibytes' | 'seconds' | 'number' | 'on or off' | 'list' | 'pairs'
}

export const onlyCronJobs = only((type) => type === 'cron_job', 'only cron jobs have it')
export const onlySites = only((type) => type === 'static_site', 'only static sites have it')
export const onlyPublic = only(
  (type) => type === 'web_service' || type === 'static_site',
  'only web services and static sites are reachable from outside',
)
export const notSites = only(
  (type) => type !== 'static_site',
  'a static site does not have this setting: Berth serves it with its own server',
)
export const onlyListening = (type: ServiceType) =>
  listens({ type }) ? null : `a ${type.replace('_', ' ')} has no port`
export const noDiskOfCronJobs = only((type) => type !== 'cron_job', 'a cron job has no disk')

function only(has: (type: ServiceType) => boolean, refusal: string) {
  return (type: ServiceType) => (has(type) ? null : refusal)
}
