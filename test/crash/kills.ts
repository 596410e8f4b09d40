// Chooses when to kill the daemon: during startup, at any time, right after a request, when an actor reaches
// a status, phase or state, or when schedules are due. A wait that takes too long ends: any other moment
// will do. Active work is read from the dead daemon's store, the only exact source.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises'
import { openStore } from '../../storage/store/store.ts'
import type { ApiRequest } from './client.ts'
import type { Drill } from './drill.ts'
import type { Chance } from './random.ts'

const moments = { start: untilStarting, any: untilAny, request: untilRequest, status: untilStatus, instant }
type Moment = keyof typeof moments

/** When a part of the drill is killed. */
export interface KillPlan {
  /** The weights of the moments, and of the statuses, phases and states to wait for. */
  moments: Record<Exclude<Moment, 'instant'>, number> & { instant?: number }
  statuses: Record<string, number>
  /** The share of kills after requests that waits for the rare ones, which create or delete. */
  rareShare: number
}

export interface Kill {
  number: number
  how: Moment
  /** Since the daemon's start. */
  livedMs: number
  wasUp: boolean
  wasEngineAway: boolean
  /** The number of actors per kind and state. */
  underWay: Record<string, number>
}

const minuteMs = 60_000
const timeoutMs = 5000
/** Waiting for the full minute every time would make kills too rare. */
const instantTimeoutMs = 25_000

/** Waits for the moment, kills the daemon, and returns what was active. */
export async function killOnce(drill: Drill, plan: KillPlan, chance: Chance, number: number): Promise<Kill> {
  const { victim, incidents } = drill
  const isNear = untilInstantMs() < instantTimeoutMs
  const how = chance.choose({ ...plan.moments, instant: isNear ? (plan.moments.instant ?? 0) : 0 })
  await moments[how](drill, plan, chance)
  const { startedAt, upAt } = victim.lives.at(-1)!
  const at = Date.now()
  await victim.kill()
  const livedMs = Date.now() - startedAt
  const wasEngineAway = incidents.wasEngineAway(at)
  const underWay = await readUnderWay(victim.dataDir)
  return { number, how, livedMs, wasUp: upAt !== null, wasEngineAway, underWay }
}

/** The restore takes some hundred milliseconds around startup. */
async function untilStarting(_drill: Drill, _plan: KillPlan, chance: Chance): Promise<void> {
  await sleep(chance.between(150, 1500))
}

async function untilAny({ victim }: Drill, _plan: KillPlan, chance: Chance): Promise<void> {
  await victim.whenUp()
  await sleep(chance.between(0, 7000))
}

async function untilRequest({ victim, client }: Drill, plan: KillPlan, chance: Chance): Promise<void> {
  await victim.whenUp()
  await sleep(chance.between(0, 3000))
  const isRare = ({ method, path }: ApiRequest) => method === 'DELETE' || /^\/\w+$/.test(path)
  const isMeant = chance.isTrue(plan.rareShare) ? isRare : () => true
  await new Promise<void>((resolve) => {
    const giveUp = setTimeout(resolve, timeoutMs)
    client.onNextChange(isMeant, () => {
      clearTimeout(giveUp)
      resolve()
    })
  })
  await pass(chance.isTrue(0.7) ? chance.between(0, 8) : chance.between(0, 700))
}

/** A busy wait for a fraction of a millisecond, below the resolution of timers. */
async function pass(ms: number): Promise<void> {
  for (const end = performance.now() + ms; performance.now() < end; ) await immediate()
}

async function untilStatus({ victim }: Drill, { statuses }: KillPlan, chance: Chance): Promise<void> {
  const api = await victim.whenUp()
  await sleep(chance.between(0, 3000))
  const wanted = chance.choose(statuses)
  try {
    for await (const { event, data } of api.events('/events', { signal: AbortSignal.timeout(timeoutMs) })) {
      if (event !== 'change') continue
      const { status, transition } = JSON.parse(data)
      const reached = [
        status,
        transition?.status,
        transition?.phase,
        ...(transition?.state.split(/[. ]/) ?? []),
      ]
      if (reached.includes(wanted)) break
    }
  } catch {
    // It did not happen in time, or the daemon ended.
  }
  await sleep(chance.isTrue(0.5) ? chance.between(0, 15) : chance.between(0, 500))
}

/** A scheduled run starts within milliseconds of its due time. */
async function instant(_drill: Drill, _plan: KillPlan, chance: Chance): Promise<void> {
  const lateMs = chance.isTrue(0.7) ? chance.between(0, 60) : chance.between(-300, 900)
  await sleep(untilInstantMs() + lateMs)
}

function untilInstantMs(): number {
  return minuteMs - (Date.now() % minuteMs)
}

type Value = string | { [region: string]: Value }

/** The number of actors per kind and state in the store of a dead daemon. */
export async function readUnderWay(dataDir: string): Promise<Record<string, number>> {
  return countBy((await lookAtStates(dataDir, async (read) => read())) ?? [], (path) => path)
}

/** Lets `look` read the kind and state of each active actor, also while a daemon runs. */
export async function lookAtStates<T>(
  dataDir: string,
  look: (read: () => string[]) => Promise<T>,
): Promise<T | null> {
  // A daemon killed right after its start has no store yet.
  if (!existsSync(join(dataDir, 'store/data.mdb'))) return null
  const store = openStore(dataDir, { onPanic: () => undefined, isReadOnly: true })
  try {
    const rows = store.table<{ snapshot: { value: Value } }>('actors')
    const active = store.table('active')
    const states = () =>
      ([...active.keys()] as string[][]).map(([kind, , id]) => ({ kind, row: rows.get(id!) }))
    // A row may be removed between the two reads.
    return await look(() =>
      states().flatMap(({ kind, row }) => (row ? [`${kind} ${innermost(row.snapshot.value)}`] : [])),
    )
  } finally {
    await store.close()
  }
}

/** Uses the first of parallel regions. */
function innermost(value: Value): string {
  return typeof value === 'string' ? value : innermost(Object.values(value)[0]!)
}

export function countBy<T>(items: readonly T[], keyOf: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const item of items) counts[keyOf(item)] = (counts[keyOf(item)] ?? 0) + 1
  return counts
}
