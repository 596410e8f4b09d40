// Checks which version responded: never one that was not checked yet, never one that was replaced.
// There are no tolerances. The daemon records `live` after the old version stops receiving requests, and
// `switching` before it updates the edge; `sentAt` precedes a request and `doneAt` follows it. A request sent
// in a later millisecond than `live` must not reach the old version, and one done before `switching` cannot
// come from the new one.
import type { Violation } from '../crash/ledger.ts'
import type { DeployTimes, Evidence } from './evidence.ts'
import type { RequestSample, StreamSample } from './sample.ts'
import { violationOf } from './violation.ts'

interface Reign extends DeployTimes {
  /** The deploy that replaced it. */
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
    const text = `${sample.service}: ${sample.kind} served by ${sample.deploy}, ${words}`
    return [violationOf(evidence, rule, text, sample, sample.sentAt)]
  })
}

/** The violated rule and how, or null. */
function wrongOf(reign: Reign | undefined, sample: RequestSample | StreamSample): [string, string] | null {
  const { service, sentAt } = sample
  if (reign?.service !== service) return ['a service is served by its own deploys', 'a foreign deploy']
  const answeredAt = 'doneAt' in sample ? sample.doneAt : (sample.openedAt ?? sentAt)
  const { switchingAt, deactivatedAt, successor } = reign
  if (switchingAt === null || answeredAt < switchingAt)
    return ['no request reaches a version before it is checked', 'not checked yet']
  if (successor === null || sentAt <= successor.liveAt!) return null
  const late = `sent ${sentAt - successor.liveAt!} ms after ${successor.id} was live`
  return deactivatedAt !== null && sentAt > deactivatedAt
    ? ['no request reaches a version after its drain', late]
    : ['no new request reaches the old version', late]
}

function reignOf({ deploys }: Evidence, times: DeployTimes): Reign {
  const { service, liveAt } = times
  const later = deploys.filter(
    (deploy) =>
      deploy.service === service && liveAt !== null && deploy.liveAt !== null && deploy.liveAt > liveAt,
  )
  const [successor = null] = later.sort((one, other) => one.liveAt! - other.liveAt!)
  return { ...times, successor }
}
