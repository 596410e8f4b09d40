// Chooses when to kill the daemon: during startup, at any time, right after a request, when a run reaches a
// given status, and around the time at which schedules are due.
import { setTimeout as sleep } from 'node:timers/promises'
import { untilChange, untilRequest } from '../kill-moments.ts'
import { pass, readUnderWay } from '../killer.ts'
import type { Chance } from '../random.ts'
import type { Victim } from '../victim.ts'
import type { Book } from './book.ts'

export interface Kill {
  number: number
  how: 'start' | 'status' | 'request' | 'instant' | 'any'
  /** Since the daemon's start. */
  livedMs: number
  wasUp: boolean
  wasEngineAway: boolean
  /** The number of actors per state. */
  underWay: Record<string, number>
}

type Moment = (victim: Victim, book: Book, chance: Chance) => Promise<void>

const statuses = { pending: 4, running: 5, succeeded: 3, failed: 4, canceled: 5, due: 2 }
const minuteMs = 60_000
/** Waiting for the full minute every time would make kills too rare. */
const instantTimeoutMs = 25_000

/** Waits for the moment, kills the daemon, and returns what was active. */
export async function killOnce(victim: Victim, book: Book, chance: Chance, number: number): Promise<Kill> {
  const isNear = untilInstantMs() < instantTimeoutMs
  const how = chance.choose({ start: 14, status: 32, request: 20, instant: isNear ? 40 : 0, any: 20 })
  await moments[how](victim, book, chance)
  const { startedAt, upAt } = victim.lives.at(-1)!
  const at = performance.now()
  await victim.kill()
  return {
    number,
    how,
    livedMs: Date.now() - startedAt,
    wasUp: upAt !== null,
    wasEngineAway: book.incidents.wasEngineAway(at, performance.now()),
    underWay: await readUnderWay(victim.dataDir),
  }
}

const untilInstantMs = () => minuteMs - (Date.now() % minuteMs)

const moments: Record<Kill['how'], Moment> = {
  start: async (_victim, _book, chance) => void (await sleep(chance.between(150, 1500))),
  async any(victim, _book, chance) {
    await victim.whenUp()
    await sleep(chance.between(0, 6000))
  },
  async request(victim, { client }, chance) {
    await victim.whenUp()
    await sleep(chance.between(0, 2000))
    await untilRequest(client)
    await pass(chance.isTrue(0.6) ? chance.between(0, 8) : chance.between(0, 600))
  },
  async status(victim, _book, chance) {
    await victim.whenUp()
    await sleep(chance.between(0, 2000))
    const status = chance.choose(statuses)
    const isMatch = (change: { kind: string; status: string }) =>
      ['job-run', 'cron-schedule'].includes(change.kind) && change.status === status
    await untilChange(victim, isMatch)
    await sleep(chance.isTrue(0.5) ? chance.between(0, 15) : chance.between(0, 600))
  },
  // A scheduled run starts within milliseconds of its due time.
  instant: async (_victim, _book, chance) =>
    void (await sleep(
      untilInstantMs() + (chance.isTrue(0.7) ? chance.between(0, 60) : chance.between(-300, 900)),
    )),
}
