// One setting of a service: its default, which types of services have it, when a change takes effect, what it
// means, and its flag.
import type { ServiceSettings, ServiceType } from '../../storage/services.ts'
import { listens } from './service-types.ts'

/** What nobody can set yet, and what has commands of its own. */
type Fixed = 'type' | 'auto_deploy' | 'watch_paths' | 'build_command' | 'suspended'
export type SettingName = Exclude<keyof ServiceSettings, Fixed> | 'shared_network'

export interface Setting<Value = unknown> {
  /** Stored when the setting is left out or cleared. */
  default: Value
  /** A restart runs the image that is live; a build setting waits for the next build or pull. */
  takesEffect: 'at once' | 'at restart' | 'at build'
  /** For the API document. */
  meaning: string
  /** Null for a setting with a command of its own. */
  flag: Flag | null
  /** Why services of this type do not have the setting; null for a type that has it. */
  refusal?: (type: ServiceType) => string | null
  /** The form that is stored. */
  normalize?: (value: NonNullable<Value>) => Value
}

export interface Flag {
  /** `--repo <url>` */
  flags: string
  help: string
  /** How the text becomes a value; by default it is the value. */
  value?: 'whole number' | 'number' | 'on or off' | 'list' | 'pairs'
}

export const onlyCronJobs = only((type) => type === 'cron_job', 'only a cron job has one')
export const onlySites = only((type) => type === 'static_site', 'only a static site has one')
export const onlyPublic = only(
  (type) => type === 'web_service' || type === 'static_site',
  'only a web service or a static site is reached from outside',
)
export const notSites = only(
  (type) => type !== 'static_site',
  'a static site is served by a server of Berth: it has no such setting',
)
export const onlyListening = (type: ServiceType) =>
  listens({ type }) ? null : `a ${type.replace('_', ' ')} has no address to check`
export const noDiskOfCronJobs = only((type) => type !== 'cron_job', 'a cron job has no disk')

function only(has: (type: ServiceType) => boolean, refusal: string) {
  return (type: ServiceType) => (has(type) ? null : refusal)
}
