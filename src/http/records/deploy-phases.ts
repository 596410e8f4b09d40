// The waits and phases of deploys, from their histories: how long each took, and how long it usually takes.
import type { ActorRecord, HistoryEntry } from '../../../storage/actors/actors.ts'
import type { Storage } from '../../../storage/index.ts'
import { type DeployPhase, type PhaseTimes, phaseNames } from '../../api/deploy.ts'

/** More than the phases of any deploy. Without a limit, each deploy of a list could have 510 entries. */
const entriesRead = 60

interface Visit {
  name: string
  at: string
  /** A build that does not have its slot yet waits for it, from its beginning. */
  hasSlot: boolean
}

export function phasesOf({ actors }: Pick<Storage, 'actors'>, id: string): DeployPhase[] {
  const visits = toVisits(actors.history(id, entriesRead))
  return visits.flatMap(({ name, at }, index) => {
    if (!isProgress(name)) return []
    const next = visits[index + 1]
    const durationMs = next ? Math.max(0, Date.parse(next.at) - Date.parse(at)) : null
    return [{ phase: name, started_at: at, duration_ms: durationMs }]
  })
}

function isProgress(name: string): name is DeployPhase['phase'] {
  return phaseNames.some((phase) => phase === name)
}

/** One per state, and one for the wait for a build slot, which is no state of its own. */
function toVisits(history: readonly HistoryEntry[]): Visit[] {
  const visits: Visit[] = []
  for (const { at, event, state } of history) {
    const last = visits.at(-1)
    const name = event === 'build.queued' ? 'slot' : state.split('.').at(-1)!
    const hasSlot = event === 'build.started'
    if (name === 'slot' && last?.name === 'building' && !last.hasSlot) last.name = name
    else if (name !== last?.name) visits.push({ name, at, hasSlot })
    else last.hasSlot ||= hasSlot
  }
  return visits
}

/** The newest successful deploys that built or pulled: restarts and rollbacks skip most phases. */
export function phaseTimesOf(storage: Pick<Storage, 'actors'>, serviceId: string, last: number): PhaseTimes {
  const { records } = storage.actors.page('deploy', [serviceId], { limit: last, accepts: isTypical })
  const deploys = records.map(({ id }) => phasesOf(storage, id))
  const durations = new Map<DeployPhase['phase'], number[]>()
  const totals: number[] = []
  for (const phases of deploys) {
    const sums = new Map<DeployPhase['phase'], number>()
    for (const { phase, duration_ms } of phases) sums.set(phase, (sums.get(phase) ?? 0) + (duration_ms ?? 0))
    for (const [phase, sum] of sums) durations.set(phase, [...(durations.get(phase) ?? []), sum])
    totals.push([...sums.values()].reduce((total, sum) => total + sum, 0))
  }
  return {
    count: deploys.length,
    total: spreadOf(totals),
    phases: Object.fromEntries([...durations].map(([phase, all]) => [phase, spreadOf(all)!])),
  }
}

function isTypical({ status, source }: ActorRecord): boolean {
  const wasLive = status === 'live' || status === 'deactivated'
  return wasLive && (source as { kind: string }).kind !== 'reuse'
}

export function spreadOf(durationsMs: readonly number[]): PhaseTimes['total'] {
  if (durationsMs.length === 0) return null
  const sorted = durationsMs.toSorted((a, b) => a - b)
  const at = (part: number) => sorted[Math.ceil(part * sorted.length) - 1]!
  return { median_ms: at(0.5), p90_ms: at(0.9) }
}
