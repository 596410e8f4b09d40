// The main line of each chart: the states that an actor goes through if nothing goes wrong. A test compares
// the lines with the charts.

/** What the record and the service say about the line before the actor has gone it. */
export interface Facts {
  source?: 'git' | 'archive' | 'image' | 'reuse' | undefined
  hasPreDeploy?: boolean | undefined
  isOnSchedule?: boolean | undefined
}

/** What it means that an actor is in a state off its line. `after`: what follows the end of the line. */
export type Ramp = 'failed' | 'canceled' | 'waiting' | 'after'

export interface KindLines {
  /** `lap`: the states since the end of the line was last reached, or since the beginning. */
  lineOf(facts: Facts, lap: readonly string[]): string[]
  /** Where an actor stays; it may start over from there. */
  rests: string[]
  /** The states off the line. */
  ramps: Record<string, Ramp>
  /** Where an actor waits for others, and does not work. */
  waits: string[]
  /** Parallel regions without a line. */
  regions: string[]
}

/** States of a parent: `running.fetching`. */
const within = (parent: string, ...keys: string[]) => keys.map((key) => `${parent}.${key}`)
const always = (line: string[]) => () => line
const none = { waits: [], regions: [] }

/** As far as it can be seen. */
function sourceIn(lap: readonly string[]): NonNullable<Facts['source']> {
  if (lap.includes('running.pulling')) return 'image'
  return lap.includes('running.starting') && !lap.includes('running.building') ? 'reuse' : 'git'
}

function deployLine(facts: Facts, lap: readonly string[]): string[] {
  const { source = sourceIn(lap), hasPreDeploy, isOnSchedule } = facts
  const sources = { git: ['fetching', 'building'], archive: ['fetching', 'building'], image: ['pulling'] }
  const first = source === 'reuse' ? [] : sources[source]
  const isAsked = hasPreDeploy && !lap.includes('running.starting')
  const isPrepared = source !== 'reuse' && (isAsked || lap.includes('running.preparing'))
  const isCron = lap.includes('live') ? !lap.includes('running.switching') : isOnSchedule
  const rest = isCron ? ['starting'] : ['starting', 'checking', 'switching']
  return ['queued', ...within('running', ...first, ...(isPrepared ? ['preparing'] : []), ...rest), 'live']
}

const datastoreStart = ['wanted.life.starting.pulling', 'wanted.life.starting.starting'].concat(
  'wanted.life.starting.probing',
  'wanted.life.available',
)
const datastoreUpgrade = within('wanted.life.upgrading', 'checking', 'copying', 'switching')

function datastoreLine(_: Facts, lap: readonly string[]): string[] {
  const begins = (...states: string[]) => states.some((state) => lap.includes(state))
  if (begins('trashing', 'saving', 'deleting')) {
    const first = lap.includes('saving')
      ? ['saving', 'trashing']
      : lap.includes('trashing')
        ? ['trashing']
        : []
    return [...first, ...(lap.includes('deleting') ? ['deleting', 'deleted'] : ['trashed'])]
  }
  if (begins('reclaiming')) return ['reclaiming', ...datastoreStart]
  if (begins(...datastoreUpgrade)) return [...datastoreUpgrade, ...datastoreStart]
  return begins('wanted.life.starting.stopping')
    ? ['wanted.life.starting.stopping', ...datastoreStart]
    : datastoreStart
}

function connectionLine(_: Facts, lap: readonly string[]): string[] {
  const end = ['exchanging', 'connected.idle']
  if (lap.includes('pending.registering'))
    return ['pending.registering', 'exchanging', 'pending.installing', ...end]
  const pending = ['pending.installing', 'pending.authorizing'].find((state) => lap.includes(state))
  if (pending !== undefined) return [pending, ...end]
  return lap.includes('exchanging') ? end : ['starting', 'connected.idle']
}

function jobRunLine(_: Facts, lap: readonly string[]): string[] {
  const input = lap.includes('connecting') ? ['connecting'] : []
  return ['pending', ...input, 'running.starting', 'running.following', 'succeeding', 'succeeded']
}

export const lines: Record<string, KindLines> = {
  deploy: {
    ...none,
    lineOf: deployLine,
    rests: ['live'],
    ramps: {
      failing: 'failed',
      failed: 'failed',
      canceling: 'canceled',
      canceled: 'canceled',
      draining: 'after',
      deactivated: 'after',
    },
    waits: ['queued'],
  },
  'job-run': {
    ...none,
    lineOf: jobRunLine,
    rests: ['succeeded'],
    ramps: {
      'running.stopping': 'failed',
      failing: 'failed',
      failed: 'failed',
      'canceling.stopping': 'canceled',
      'canceling.clearing': 'canceled',
      canceled: 'canceled',
    },
    waits: ['pending', 'connecting'],
  },
  backup: {
    ...none,
    lineOf: always(['running.dumping', 'running.checking', 'good.pruning', 'good.kept']),
    rests: ['good.kept'],
    ramps: {
      'running.discarding': 'failed',
      'running.waiting': 'waiting',
      failed: 'failed',
      deleting: 'after',
      deleted: 'after',
    },
  },
  'server-backup': {
    ...none,
    lineOf: always(['running.writing', 'running.checking', 'stored.pruning', 'stored.kept']),
    rests: ['stored.kept'],
    ramps: { 'running.discarding': 'failed', failed: 'failed', deleting: 'after', deleted: 'after' },
  },
  restore: {
    ...none,
    lineOf: always(['checking', 'loading', 'switching', 'tidying', 'done']),
    rests: ['done'],
    ramps: { undoing: 'failed', failed: 'failed', canceled: 'canceled' },
  },
  certificate: {
    ...none,
    lineOf: always(['checking', 'ordering', 'installing', 'valid']),
    rests: ['valid'],
    ramps: { waiting: 'waiting', releasing: 'after', released: 'after' },
  },
  datastore: {
    lineOf: datastoreLine,
    rests: ['wanted.life.available', 'trashed', 'deleted'],
    ramps: {
      'wanted.life.failed': 'failed',
      'wanted.life.upgrading.undoing': 'failed',
      // A datastore that could not be reclaimed.
      trashed: 'failed',
    },
    waits: [],
    regions: ['wanted.limits', 'wanted.backups'],
  },
  'terminal-login': {
    ...none,
    lineOf: always(['pending', ...within('approved', 'issuing', 'waiting'), 'collected']),
    rests: ['collected'],
    ramps: { denied: 'failed', told: 'failed', revoking: 'failed', expired: 'failed' },
    waits: ['pending', 'approved.waiting'],
  },
  'git-connection': {
    ...none,
    lineOf: connectionLine,
    rests: ['connected.idle'],
    ramps: {
      'connected.renewing': 'after',
      merged: 'after',
      rejected: 'failed',
      invalid: 'failed',
      removing: 'after',
      deleted: 'after',
    },
    waits: within('pending', 'registering', 'installing', 'authorizing'),
  },
  'service-removal': {
    ...none,
    lineOf: (_, lap) => ['ending', 'clearing', ...(lap.includes('trashing') ? ['trashing'] : []), 'removed'],
    rests: ['removed'],
    ramps: {},
  },
}

/** Where the key of a state does not say it. */
const labels: Record<string, Record<string, string>> = {
  deploy: { deactivated: 'Replaced' },
  'job-run': { pending: 'Waiting', following: 'Running', succeeding: 'Cleaning up', clearing: 'Cleaning up' },
  backup: { waiting: 'Waiting to retry' },
  certificate: { waiting: 'Waiting to retry' },
  datastore: { probing: 'Connecting' },
  'terminal-login': { issuing: 'Creating a token', waiting: 'Approved', told: 'Denied' },
  'git-connection': { exchanging: 'Authorizing', authorizing: 'In the browser', idle: 'Connected' },
}
const common: Record<string, string> = { failing: 'Cleaning up', canceling: 'Cleaning up' }

/** `running.fetching` → `Fetching`. */
export function labelOfState(kind: string, id: string): string {
  const key = id.split('.').at(-1)!
  return labels[kind]?.[key] ?? common[key] ?? key.charAt(0).toUpperCase() + key.slice(1)
}
