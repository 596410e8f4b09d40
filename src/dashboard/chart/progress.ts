// Where an actor is on the main line of its chart, from its history.
import type { HistoryEntry } from '../../api/actor.ts'
import { type Facts, type KindLines, labelOfState, lines, type Ramp } from './lines.ts'

export type StepState = 'done' | 'current' | 'waiting' | 'failed' | 'canceled' | 'parked' | 'ahead'

export interface Step {
  /** The id of a state of the chart. */
  id: string
  label: string
  state: StepState
  startedAt: number | null
  /** Of the transition that began it; null if it is ahead or not known. */
  revision: number | null
  /** Null unless it waits for a slot now. */
  waitsSince: number | null
  /** Null while it is ahead or runs. Without the time that it waited for a slot. */
  durationMs: number | null
  /** For a slot: a build begins only when another one ends. */
  waitedMs: number
  /** The server was restarted during it. */
  isResumed: boolean
  /** What followed off the line: cleaning up, the outcome. */
  asides: Aside[]
}

/** Whether the actor is in it. */
export function isPresent({ state }: Step): boolean {
  return state === 'current' || state === 'waiting'
}

export interface Aside {
  label: string
  ramp: Ramp
  startedAt: number
  /** Null for the present one. */
  durationMs: number | null
}

export type Entry = Pick<HistoryEntry, 'at' | 'state' | 'event'> & { boot?: number | null; revision?: number }

interface Visit {
  id: string
  at: number
  revision: number | null
  waitsSince: number | null
  waitedMs: number
  isResumed: boolean
}

/** The event of an actor that begins to wait within a state, until its next event. */
export const waitEvent = 'build.queued'

/** Null for a kind without a main line. */
export function progressOf(kind: string, facts: Facts, history: readonly Entry[]): Step[] | null {
  const known = lines[kind]
  if (!known) return null
  const visits = visitsOf(history)
  const lap = lapOf(known, facts, visits)
  const line = known.lineOf(
    facts,
    lap.map(({ id }) => id),
  )
  return stepsOf(kind, known, line, lap)
}

/** The states in order; transitions within a state are left out. */
function visitsOf(history: readonly Entry[]): Visit[] {
  const visits: Visit[] = []
  history.forEach(({ at: instant, event, state, boot, revision = null }, index) => {
    // The first region is the one with a line; the others keep their states.
    const [id = ''] = state.split(' ')
    const at = Date.parse(instant)
    const former = history[index - 1]?.boot
    const last = visits.at(-1)
    if (last && boot != null && former != null && boot !== former) last.isResumed = true
    if (last && last.waitsSince !== null) last.waitedMs += at - last.waitsSince
    if (last) last.waitsSince = null
    if (id === last?.id) last.waitsSince = event === waitEvent ? at : null
    else visits.push({ id, at, revision, waitsSince: null, waitedMs: 0, isResumed: false })
  })
  return visits
}

/** What came since the line was gone to its end before: a certificate is renewed repeatedly. */
function lapOf({ lineOf, rests }: KindLines, facts: Facts, visits: Visit[]): Visit[] {
  const restart = visits.findLastIndex(({ id }, index) => {
    const before = visits[index - 1]
    return before !== undefined && rests.includes(before.id) && lineOf(facts, [id]).includes(id)
  })
  return restart === -1 ? visits : visits.slice(restart)
}

interface Place {
  visit: Visit
  asides: Visit[]
}

function stepsOf(kind: string, known: KindLines, line: string[], lap: Visit[]): Step[] {
  const places: Place[] = []
  let isParked = false
  let last = -1
  for (const visit of lap) {
    isParked = visit.id === 'parked'
    if (isParked) continue
    const ahead = line.indexOf(visit.id, last + 1)
    const at = ahead === -1 ? line.lastIndexOf(visit.id) : ahead
    if (at === -1) {
      places[Math.max(last, 0)]?.asides.push(visit)
      continue
    }
    // A state that is entered again was retried: what followed it then is over.
    places.length = Math.min(places.length, at)
    places[at] = { visit, asides: [] }
    last = at
  }
  const present = isParked ? 'parked' : lap.at(-1)?.id
  return line.map((id, index) => {
    const place = places[index]
    const label = labelOfState(kind, id)
    if (!place) return { ...nothingYet, id, label }
    const { visit } = place
    const endOf = (one: Visit) => lap[lap.indexOf(one) + 1]?.at
    const endAt = known.rests.includes(id) ? undefined : endOf(visit)
    const asides = place.asides.map((one) => asideOf(kind, known, one, endOf(one)))
    const isWaiting = visit.waitsSince !== null && present === id
    return {
      id,
      label,
      state: index < last ? 'done' : isWaiting ? 'waiting' : stateOf(known, id, asides, present),
      startedAt: visit.at,
      revision: visit.revision,
      waitsSince: visit.waitsSince,
      durationMs: endAt === undefined ? null : endAt - visit.at - visit.waitedMs,
      waitedMs: visit.waitedMs,
      isResumed: visit.isResumed,
      asides,
    }
  })
}

const nothingYet = {
  state: 'ahead',
  startedAt: null,
  revision: null,
  waitsSince: null,
  durationMs: null,
  waitedMs: 0,
  isResumed: false,
  asides: [],
} satisfies Omit<Step, 'id' | 'label'>

/** Of the step that was reached last. */
function stateOf({ rests, waits }: KindLines, id: string, asides: Aside[], present?: string): StepState {
  if (present === 'parked') return 'parked'
  const outcome = asides.find(({ ramp }) => ramp !== 'after')?.ramp
  if (outcome !== undefined) return outcome === 'canceled' ? 'canceled' : 'failed'
  if (rests.includes(id)) return 'done'
  return waits.includes(id) ? 'waiting' : 'current'
}

function asideOf(kind: string, { ramps }: KindLines, { id, at }: Visit, endAt: number | undefined): Aside {
  return {
    label: labelOfState(kind, id),
    // A state of an older chart says nothing about success.
    ramp: ramps[id] ?? 'after',
    startedAt: at,
    durationMs: endAt === undefined ? null : endAt - at,
  }
}
