// The rules of alerts: what each watches, and from which value on. Settings can change the value, or turn a
// rule off, for all subjects or for one.
const problem = 'problem' as const
const warning = 'warning' as const

/** The texts complete "raised when". */
const rules = {
  host_cpu: rule(warning, 'host', 'its processors are so busy for five minutes', [90, '%', 10]),
  host_memory: rule(warning, 'host', 'so much memory is in use for five minutes', [90, '%', 5]),
  host_disk: rule(problem, 'host', 'so much of the disk of the data directory is in use', [85, '%', 3]),
  host_inodes: rule(problem, 'host', 'so many inodes of that disk are in use', [85, '%', 3]),
  service_cpu: rule(warning, 'service', 'it uses so much of its CPU limit for five minutes', [90, '%', 10]),
  service_memory: rule(warning, 'service', 'an instance uses so much of its memory limit', [90, '%', 5]),
  service_errors: rule(problem, 'service', 'so many of 20 or more requests get 5xx', [5, '%', 2]),
  service_latency: rule(warning, 'service', 'p95 of 20 or more requests is so long', [3000, 'ms', 500]),
  service_restarts: rule(problem, 'service', 'its instances end so often in ten minutes', [3, 'restarts', 2]),
  deploy_failed: rule(problem, 'service', 'a deploy fails'),
  source_unreadable: rule(warning, 'service', 'its source cannot be read for so long', [1, 'hours', 0]),
  job_failed: rule(problem, 'service', 'a scheduled run fails'),
  job_missed: rule(warning, 'service', 'a scheduled run is skipped'),
  certificate_expires: rule(warning, 'domain', 'a late renewal leaves so little time', [21, 'days', 0]),
  certificate_failed: rule(warning, 'domain', 'three attempts to obtain or renew its certificate failed'),
  domain_unreachable: rule(problem, 'domain', 'https://DOMAIN is not below 500 for three minutes'),
  datastore_failed: rule(problem, 'datastore', 'it does not serve'),
  backup_failed: rule(problem, 'datastore', 'a backup fails'),
  backup_late: rule(problem, 'datastore', 'a scheduled backup is overdue for so long', [2, 'hours', 0]),
  server_backup: rule(problem, 'host', 'one of the server fails, or is overdue for so long', [2, 'hours', 0]),
  actor_parked: rule(problem, 'actor', 'an internal error parks it'),
  engine_unreachable: rule(problem, 'host', 'the Docker engine does not respond for a minute'),
  edge_down: rule(problem, 'edge', 'it does not serve for a minute'),
  git_connection_invalid: rule(warning, 'git_connection', 'the provider rejects its authorization'),
  token_new_address: rule(warning, 'token', 'it is used from an address that is new for it'),
}

/** Off unless a setting turns it on. */
const optional: RuleCode = 'domain_unreachable'

/** With a value that can be changed, and how far below it a measured value must be for the alert to end. */
type Limit = [threshold: number, unit: '%' | 'ms' | 'restarts' | 'days' | 'hours', margin: number]

function rule(severity: 'problem' | 'warning', about: string, when: string, limit?: Limit) {
  const [threshold = null, unit = null, margin = 0] = limit ?? []
  return { about, severity, when, threshold, unit, margin }
}

export type RuleCode = keyof typeof rules
export const ruleCodes = Object.keys(rules) as [RuleCode, ...RuleCode[]]
export const alertRule = (code: RuleCode) => rules[code]

interface RuleSettings {
  enabled: boolean
  threshold: number | null
}

/** The first row that has a setting decides: one for a subject before the one for all. */
export function ruleSettings(code: RuleCode, ...rows: (Partial<RuleSettings> | null)[]): RuleSettings {
  const enabled = rows.find((row) => row?.enabled !== undefined)?.enabled ?? code !== optional
  const own = rows.find((row) => row?.threshold !== undefined)?.threshold
  return { enabled, threshold: own ?? rules[code].threshold }
}
