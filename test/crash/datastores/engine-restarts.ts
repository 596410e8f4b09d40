// Stops or kills Docker, leaves it down for a while and starts it again, changing limits during the outage.
// Complete when every writer has an acknowledged row afterwards and the limits are applied.
import { setTimeout as sleep } from 'node:timers/promises'
import type { NamespaceEngine } from '../../support/docker/namespace-engine.ts'
import type { Chance } from '../random.ts'
import { limit, untilAvailable } from './actions.ts'
import type { DatastoreEntry, RunState } from './book.ts'
import { type Incident, longestSilenceMs } from './incidents.ts'
import { type InspectTarget, untilLimited } from './limits.ts'
import type { Way, Writer } from './writer.ts'

export interface EngineRestart {
  number: number
  how: 'stopped' | 'killed'
  /** How long its socket was unavailable. */
  awayMs: number
  /** From its end until every writer was served again. */
  recoveryMs: number
  /** The longest time without an acknowledged row. */
  silenceMs: Record<Way, number>
}

const longestAwayMs = 9000
const recoveryMs = 150_000

export interface RestartRequest {
  engine: NamespaceEngine
  book: RunState
  writers: Writer[]
  chance: Chance
  number: number
  how: EngineRestart['how']
  look: InspectTarget
}

export async function restartEngine(request: RestartRequest): Promise<EngineRestart> {
  const { engine, book, writers, chance, number, how, look } = request
  const incident = book.incidents.begin('engine')
  await (how === 'stopped' ? engine.stop() : engine.kill())
  const limiting = limitAll(request)
  await sleep(chance.between(0, longestAwayMs))
  await engine.start()
  const backAt = performance.now()
  await untilServed(book, writers)
  const servedAt = performance.now()
  await limiting
  book.isLeftAlone = true
  await Promise.all(writtenOf(writers).map((entry) => untilLimited(look, book, entry)))
  book.isLeftAlone = false
  book.incidents.end(incident)
  return {
    number,
    how,
    awayMs: Math.round(backAt - incident.from),
    recoveryMs: Math.round(servedAt - backAt),
    silenceMs: {
      port: silenceOf(writers, 'port', incident),
      network: silenceOf(writers, 'network', incident),
    },
  }
}

/** Waits until every writer has a newly sent row acknowledged and every datastore reports that it serves. */
export async function untilServed(book: RunState, writers: Writer[]): Promise<void> {
  const waiting = writers.map((writer) => ({ writer, first: writer.sent.size + 1 }))
  const deadline = Date.now() + recoveryMs
  const isServed = ({ writer, first }: (typeof waiting)[0]) => (writer.acknowledged.at(-1) ?? 0) >= first
  while (!waiting.every(isServed) && Date.now() < deadline) await sleep(50)
  for (const { writer } of waiting.filter((one) => !isServed(one))) {
    const { entry, way } = writer
    const text = `${entry.name} takes no row by its ${way}, ${recoveryMs / 1000} s after`
    book.ledger.addViolation('datastores recover', text)
  }
  await Promise.all(writtenOf(writers).map((entry) => untilAvailable(book, entry)))
}

/** The responses may arrive only when Docker is back. */
async function limitAll({ book, writers, chance }: RestartRequest): Promise<void> {
  const limiting = writtenOf(writers).map((entry) => limit(book, entry, chance))
  await Promise.all(limiting).catch((error: Error) =>
    book.ledger.addViolation('every request is answered', String(error.stack)),
  )
}

function writtenOf(writers: Writer[]): DatastoreEntry[] {
  return [...new Set(writers.map(({ entry }) => entry))]
}

function silenceOf(writers: Writer[], way: Way, incident: Incident): number {
  const sameWay = writers.filter((writer) => writer.way === way)
  return Math.round(Math.max(0, ...sameWay.map((one) => longestSilenceMs(one.acknowledgedAt, incident))))
}
