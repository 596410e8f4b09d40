// Guards and events of the charts in words, for the labels of arrows. A test requires one for each.

/** Reads after "if". */
export const guardWords: Record<string, string> = {
  deploys: 'it is deployed',
  fades: 'it ends by itself',
  hasEnded: 'nothing will change',
  hasMore: 'there is more to report',
  hasNews: 'there is another head',
  hasNothing: 'there is nothing to report',
  hasObstacle: 'it is off or paused',
  hasOthers: 'others wait',
  hasPreDeploy: 'there is a pre-deploy command',
  hasSucceeded: 'the command succeeded',
  hasPlan: 'backups are planned',
  hasVolume: 'it has data',
  havePassed: 'the checks have passed',
  isAcknowledged: 'a user takes care of it',
  isAnother: 'they differ',
  isCanceled: 'canceled',
  isConnected: 'it was connected',
  isDiscarded: 'it is discarded',
  isDue: 'it is due',
  isExpiring: 'its token expired',
  isFinal: 'nothing can follow',
  isGone: 'it is gone',
  isGood: 'the backup is good',
  isImage: 'it pulls an image',
  isKept: 'its data is kept',
  isMergedAway: 'another connection took over',
  isOff: 'they say off',
  isOnSchedule: 'it is a cron job',
  isOutdated: 'the head may have changed',
  isRefused: 'it was refused for good',
  isRegistered: 'the app is registered',
  isRejected: 'rejected',
  isReturn: 'it returns to its former version',
  isReuse: 'it reuses an image',
  isSuperseded: 'a newer deploy waits',
  isRuleKept: 'the rule is kept',
  isSuspended: 'the service is suspended',
  isThere: 'the disk exists',
  isTrashed: 'its disk goes to the trash',
  isTroubled: 'the check found a problem',
  isUnrouted: 'the host is not served',
  isUpgrading: 'an upgrade runs',
  isBegun: 'it was queued',
  isWaiting: 'a head waits for its checks',
  isWithdrawn: 'it is no longer due',
  isWorse: 'it is worse',
  mayAsk: 'the authority may be asked',
  mayRetry: 'attempts are left',
  takesInput: 'it gets input',
  startsConnected: 'it has tokens',
  startsWithApp: 'it uses an app',
  waits: 'it waits for its checks',
  wasConnected: 'it was connected before',
  wasInstalling: 'the app was being installed',
  wasInvalid: 'it was invalid before',
  wasRegistering: 'the app was being registered',
  servedLong: 'it served for long',
}

/** Commands, and what the server reports. */
export const eventWords: Record<string, string> = {
  acknowledge: 'acknowledge',
  approve: 'approve',
  'backups.set': 'backups change',
  'build.queued': 'waits for a build slot',
  'build.started': 'gets a build slot',
  callback: 'the browser returns',
  cancel: 'cancel',
  clear: 'the rule is kept',
  collect: 'token collected',
  configure: 'settings change',
  delete: 'delete',
  deny: 'deny',
  fold: 'another message takes it along',
  'input.ended': 'all input sent',
  'instances.reported': 'instances change',
  invalidate: 'refused by the provider',
  'limits.set': 'limits change',
  'ports.checked': 'ports checked',
  purge: 'purge',
  reclaim: 'restore',
  renew: 'renew',
  repeat: 'it happens again',
  replace: 'replaced',
  'reports.set': 'reports change',
  restart: 'restart',
  restore: 'restore',
  retry: 'retry',
  'routes.applied': 'routes change',
  'software.compared': 'versions compared',
  tell: 'denial reported',
  upgrade: 'upgrade',
  'upgrade.cancel': 'cancel',
}

/** The event of the edge that stands for the failures of several states. */
export const anyFailure = '*.failed'

/** The label of an arrow; a plain success needs none, unless it shares the arrow with others. */
export function labelOf(edge: Cause, siblings: Cause[] = [edge]): string {
  const text = causeOf(edge)
  if (text !== '') return text
  if (edge.from === edge.to) return 'otherwise'
  if (siblings.length === 1) return ''
  return siblings.some((other) => other !== edge && other.event === edge.event) ? 'otherwise' : 'succeeds'
}

interface Cause {
  from: string
  to: string
  event: string
  guard: string | null
}

function causeOf({ event, guard }: Pick<Cause, 'event' | 'guard'>): string {
  const condition = guard === null ? '' : `if ${guardWords[guard] ?? guard}`
  if (event === anyFailure) return 'any of these fails'
  if (event.endsWith('.failed')) return `fails ${condition}`.trim()
  if (event === '' || event.endsWith('.done')) return condition
  return `${eventWords[event] ?? event} ${condition}`.trim()
}
