// The rules of alerts: what each watches, and from which value on. Settings can change the value, or turn a
// rule off, for all subjects or for one.

/** What an alert is about. */
type About = 'host' | 'service' | 'datastore' | 'domain' | 'actor' | 'edge' | 'git_connection' | 'token'
type Severity = 'problem' | 'warning'
/** With a value that can be changed, and how far below it a measured value must be for the alert to end. */
type Limit = [threshold: number, unit: '%' | 'ms' | 'restarts' | 'days' | 'hours', margin: number]

/** The last text completes "raised when". */
const rules = {
  host_cpu: rule('host', 'warning', 'its processors are so busy for five minutes', [90, '%', 10]),
  host_memory: rule('host', 'warning', 'so much memory is in use for five minutes', [90, '%', 5]),
  host_disk: rule('host', 'problem', 'so much of the disk of the data directory is in use', [85, '%', 3]),
  host_inodes: rule('host', 'problem', 'so many inodes of that disk are in use', [85, '%', 3]),
  service_cpu: rule('service', 'warning', 'it uses so much of its CPU limit for five minutes', [90, '%', 10]),
  service_memory: rule(
    'service',
    'warning',
    'an instance uses so much of its memory limit for five minutes',
    [90, '%', 5],
  ),
  service_errors: rule(
    'service',
    'problem',
    'so many of its requests in five minutes get a status of 500 or more, of at least 20',
    [5, '%', 2],
  ),
  service_latency: rule(
    'service',
    'warning',
    'the 95th percentile of its response times in five minutes is so long, of at least 20',
    [3000, 'ms', 500],
  ),
  service_restarts: rule('service', 'problem', 'its instances end unexpectedly so often in ten minutes', [
    3,
    'restarts',
    2,
  ]),
  deploy_failed: rule('service', 'problem', 'a deploy fails'),
  job_failed: rule('service', 'problem', 'a scheduled run fails'),
  job_missed: rule('service', 'warning', 'a scheduled run is skipped'),
  certificate_expires: rule(
    'domain',
    'warning',
    'its certificate was not renewed in time and expires so soon; again at 7 days and on the last day',
    [21, 'days', 0],
  ),
  certificate_failed: rule('domain', 'warning', 'three attempts to obtain or renew its certificate failed'),
  domain_unreachable: rule(
    'domain',
    'problem',
    'the server requests https://DOMAIN each minute and gets no response below 500 three times in a row',
  ),
  datastore_failed: rule('datastore', 'problem', 'it does not serve'),
  backup_failed: rule('datastore', 'problem', 'a backup fails'),
  backup_late: rule('datastore', 'problem', 'a scheduled backup is overdue for so long', [2, 'hours', 0]),
  actor_parked: rule('actor', 'problem', 'an internal error parks it'),
  engine_unreachable: rule('host', 'problem', 'the Docker engine does not respond for a minute'),
  edge_down: rule('edge', 'problem', 'it does not serve for a minute'),
  git_connection_invalid: rule('git_connection', 'warning', 'the provider rejects its authorization'),
  token_new_address: rule('token', 'warning', 'it is used from an address that is new for it'),
}

/** Rules that are off unless a setting turns them on. */
const optional: readonly string[] = ['domain_unreachable']

function rule(about: About, severity: Severity, when: string, limit?: Limit) {
  const [threshold = null, unit = null, margin = 0] = limit ?? []
  return { about, severity, when, threshold, unit, margin }
}

export type RuleCode = keyof typeof rules
export const ruleCodes = Object.keys(rules) as [RuleCode, ...RuleCode[]]

export function alertRule(code: RuleCode) {
  return rules[code]
}

interface RuleSettings {
  enabled: boolean
  threshold: number | null
}

/** The first row that has a setting decides: one for a subject before the one for all. */
export function ruleSettings(
  code: RuleCode,
  ...rows: readonly (Partial<RuleSettings> | null)[]
): RuleSettings {
  const enabled = rows.find((row) => row?.enabled !== undefined)?.enabled ?? !optional.includes(code)
  const own = rows.find((row) => row?.threshold !== undefined)?.threshold
  return { enabled, threshold: own ?? rules[code].threshold }
}
