// Chooses when to kill the daemon: during startup, at any time, right after a request, or while a datastore
// has a given status.
import { setTimeout as sleep } from 'node:timers/promises'
import { untilChange, untilRequest } from '../kill-moments.ts'
import { pass, readUnderWay } from '../killer.ts'
import type { Chance } from '../random.ts'
import type { Victim } from '../victim.ts'
import type { RunState } from './book.ts'
import { type Incident, longestAtRestMs, longestSilenceMs } from './incidents.ts'
import type { Writer } from './writer.ts'

export interface Kill {
  number: number
  how: 'start' | 'status' | 'request' | 'any'
  /** Since the daemon's start. */
  livedMs: number
  wasUp: boolean
  wasEngineAway: boolean
  /** The number of actors per state. */
  underWay: Record<string, number>
  /** From the kill until the next process is healthy, or killed too. */
  incident: Incident
}

type Moment = (victim: Victim, book: RunState, chance: Chance) => Promise<void>

const statuses = { creating: 4, restarting: 4, failed: 2, deleting: 3, available: 2 }

/** Waits for the moment, kills the daemon, and returns what was active. */
export async function killOnce(
  victim: Victim,
  book: RunState,
  chance: Chance,
  number: number,
): Promise<Kill> {
  const how = chance.choose({ start: 20, status: 30, request: 25, any: 25 })
  await moments[how](victim, book, chance)
  const { startedAt, upAt } = victim.lives.at(-1)!
  const incident = book.incidents.begin('kill')
  await victim.kill()
  return {
    number,
    how,
    livedMs: Date.now() - startedAt,
    wasUp: upAt !== null,
    wasEngineAway: book.incidents.wasEngineAway(incident.from, performance.now()),
    underWay: await readUnderWay(victim.dataDir),
    incident,
  }
}

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
    await pass(chance.isTrue(0.6) ? chance.between(0, 8) : chance.between(0, 800))
  },
  async status(victim, _book, chance) {
    await victim.whenUp()
    await sleep(chance.between(0, 2000))
    const status = chance.choose(statuses)
    await untilChange(victim, (change) => change.status === status)
    await sleep(chance.isTrue(0.5) ? chance.between(0, 15) : chance.between(0, 600))
  },
}

export interface KillFigures {
  /** Kills without another incident at a datastore that was written to, one count per writer. */
  undisturbed: number
  longestSilenceMs: number
  /** The longest gap without any incident, as a baseline of the machine. */
  longestAtRestMs: number
}

/** What writers noticed of kills alone. */
export function killFigures(kills: Kill[], writers: Writer[], { incidents }: RunState): KillFigures {
  const silences = kills.flatMap(({ incident }) =>
    writers
      .filter(({ entry }) => !incidents.isDisturbed(entry.id, incident.from, incident.to))
      .map(({ acknowledgedAt }) => longestSilenceMs(acknowledgedAt, incident)),
  )
  const calm = writers.map(({ entry, acknowledgedAt }) =>
    longestAtRestMs(acknowledgedAt, (from, to) => incidents.isQuiet(entry.id, from, to)),
  )
  return {
    undisturbed: silences.length,
    longestSilenceMs: Math.round(Math.max(0, ...silences)),
    longestAtRestMs: Math.round(Math.max(0, ...calm)),
  }
}

/** A connection may break because of Docker or a requested restart, never because of a kill. */
export function checkBreaks(writers: Writer[], { incidents, ledger }: RunState): void {
  for (const { entry, way, breaks } of writers) {
    for (const { at, words } of breaks.filter((one) => !incidents.isDisturbed(entry.id, one.at, one.at))) {
      const isKilled = incidents.all.some(({ kind, from, to }) => kind === 'kill' && from <= at && to >= at)
      const text = `${entry.name} by its ${way}, ${isKilled ? 'around a kill' : 'at no kill'}: ${words}`
      ledger.addViolation('datastores serve without the daemon', text)
    }
  }
}
