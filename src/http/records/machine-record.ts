// Where the actors of a chart are, and how long they were in its states.
import { statesIn } from '../../../machines/graph.ts'
import type { HistoryEntry } from '../../../storage/actors/actors.ts'
import type { Storage } from '../../../storage/index.ts'
import type { MachineTimes } from '../../api/machine.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { isAside, stateOf } from './actor-record.ts'
import type { Chart } from './chart.ts'
import { spreadOf } from './deploy-phases.ts'

type Sees = (actor: { service_id: string | null }) => boolean

/** Of actors that have not ended. A parked one counts where it was parked, like in its own record. */
export function actorsByState({ actors }: Storage, { name, ids }: Chart, sees: Sees): Record<string, number> {
  const counts: Record<string, number> = {}
  const all = { limit: Number.POSITIVE_INFINITY, maxScanned: Number.POSITIVE_INFINITY, accepts: sees }
  for (const { id } of actors.survey({ kind: name, groups: ['parked', 'active'] }, all).records)
    for (const state of leavesIn(ids, stateOf(actors.newestHistory(id, 2)) ?? ''))
      counts[state] = (counts[state] ?? 0) + 1
  return counts
}

/** Without the states around them. */
function leavesIn(ids: readonly string[], state: string): string[] {
  const all = statesIn(ids, state)
  return all.filter((id) => !all.some((other) => id !== other && (id === '' || other.startsWith(`${id}.`))))
}

/** An actor may have up to 510 entries. */
const entriesRead = 100

interface Wanted {
  owner: string | undefined
  last: number
  sees: Sees
}

export function timesOf({ config, storage }: HttpContext, chart: Chart, wanted: Wanted): MachineTimes {
  const { actors } = storage
  const newest = actors.newest(chart.name, wanted.owner, { limit: wanted.last, accepts: wanted.sees })
  const visits = new Map<string, number[]>()
  for (const { id } of newest) addVisits(visits, chart.ids, actors.newestHistory(id, entriesRead))
  return Object.fromEntries(
    [...visits].map(([id, durationsMs]) => [
      id,
      {
        count: durationsMs.length,
        ...spreadOf(durationsMs)!,
        deadline_ms: chart.kind.limitMs?.(id, config.deployLimits) ?? null,
      },
    ]),
  )
}

/** Each time that an entry leaves a state which an earlier one had entered. */
function addVisits(visits: Map<string, number[]>, ids: readonly string[], entries: readonly HistoryEntry[]) {
  /** By state; null if it was entered before these entries. */
  const entered = new Map<string, number | null>()
  let before = 0
  for (const entry of entries) {
    const { revision } = entry
    const isNext = revision === before + 1
    before = revision
    // Where entries are missing, what happened between them is unknown. A parked actor is in no state.
    if (!isNext || isAside(entry)) entered.clear()
    if (isAside(entry)) continue
    const at = Date.parse(entry.at)
    const now = statesIn(ids, entry.state)
    for (const [id, since] of entered) {
      if (now.includes(id)) continue
      entered.delete(id)
      if (since !== null) visits.set(id, [...(visits.get(id) ?? []), Math.max(0, at - since)])
    }
    for (const id of now) if (!entered.has(id)) entered.set(id, isNext ? at : null)
  }
}
