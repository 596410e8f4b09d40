// The judge of who answered: never a version before it was checked, never one that another has replaced.
// No margins. The daemon notes `live` when the former version takes no request any more, and
// `switching` before it tells the edge anything; a request is sent after its `sentAt`, and done before its
// `doneAt`. So what is sent in a later millisecond than `live` must not reach the former version, and what
// was done before `switching` cannot have been answered by the new one.
import type { Violation } from '../crash/ledger.ts'
import type { DeployTimes, Evidence } from './evidence.ts'
import type { RequestSample, StreamSample } from './sample.ts'
import { violationOf } from './violation.ts'

interface Reign extends DeployTimes {
  /** Which followed it. */
  successor: DeployTimes | null
}

export function wrongVersions(evidence: Evidence): Violation[] {
  const reigns = new Map(evidence.deploys.map((times) => [times.id, reignOf(evidence, times)]))
  const samples = [...evidence.requests, ...evidence.streams]
  return samples.flatMap((sample) => {
    if (sample.deploy === null) return []
    const wrong = wrongOf(reigns.get(sample.deploy), sample)
    if (wrong === null) return []
    const [rule, words] = wrong
    const text = `${sample.service}: ${sample.kind} answered by ${sample.deploy}, ${words}`
    return [violationOf(evidence, rule, text, sample, sample.sentAt)]
  })
}

/** The rule and how it is broken, or null. */
function wrongOf(reign: Reign | undefined, sample: RequestSample | StreamSample): [string, string] | null {
  const { service, sentAt } = sample
  if (reign?.service !== service) return ['a service is answered by its own', 'which is not of it']
  const answeredAt = 'doneAt' in sample ? sample.doneAt : (sample.openedAt ?? sentAt)
  const { switchingAt, deactivatedAt, successor } = reign
  if (switchingAt === null || answeredAt < switchingAt)
    return ['no request reaches a version before it is checked', 'which was not']
  if (successor === null || sentAt <= successor.liveAt!) return null
  const late = `sent ${sentAt - successor.liveAt!} ms after ${successor.id} was live`
  return deactivatedAt !== null && sentAt > deactivatedAt
    ? ['no request reaches a version after its drain', late]
    : ['no new request reaches the old version', late]
}

function reignOf({ deploys }: Evidence, times: DeployTimes): Reign {
  const { service, liveAt } = times
  const later = deploys.filter(
    (one) => one.service === service && liveAt !== null && one.liveAt !== null && one.liveAt > liveAt,
  )
  const [successor = null] = later.sort((one, other) => one.liveAt! - other.liveAt!)
  return { ...times, successor }
}
