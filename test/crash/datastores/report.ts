// The printed results of a datastore run: a line per kill and Docker restart, and a table of figures.
import type { Figures, Violation } from '../ledger.ts'
import type { EngineRestart } from './engine-restarts.ts'
import type { KillFigures } from './kills.ts'
import type { Kind } from './line-client.ts'
import type { Way } from './writer.ts'

export interface WriterFigures {
  kind: Kind
  way: Way
  sent: number
  acknowledged: number
  breaks: number
}

/** Plain JSON, because it leaves the namespace as a line. */
export interface DatastoreOutcome {
  seed: number
  kills: number
  killsAtStart: number
  killsWithoutEngine: number
  killFigures: KillFigures
  engineRestarts: EngineRestart[]
  writers: WriterFigures[]
  datastores: { made: number; deleted: number; restarts: number }
  figures: Figures
  leftovers: string[]
  durationMs: number
  violations: Violation[]
  /** The directory with the saved files, if any. */
  savedFiles: string | null
}

export function engineRestartLine({ number, how, awayMs, recoveryMs, silenceMs }: EngineRestart): string {
  const times = `unavailable for ${seconds(awayMs)}, all serving again after ${seconds(recoveryMs)}`
  const silence = `no row for ${seconds(silenceMs.port)} by port, ${seconds(silenceMs.network)} by network`
  return `Docker ${number} ${how.padEnd(8)} ${times}; ${silence}`
}

export function datastoreTable(outcome: DatastoreOutcome): string {
  const { figures, killFigures, writers, engineRestarts, datastores } = outcome
  const rows: [string, string | number][] = [
    ['seed', outcome.seed],
    ['kills', outcome.kills],
    ['kills during startup', outcome.killsAtStart],
    ['kills during Docker restarts', outcome.killsWithoutEngine],
    ['Docker restarts', engineRestarts.map(({ how }) => how).join(', ')],
    ...writers.map(writerRow),
    ['longest gap, undisturbed', `${killFigures.longestAtRestMs} ms`],
    ['longest gap around a kill', `${killFigures.longestSilenceMs} ms`],
    ['longest gap, Docker restart', `${longestSilence(outcome)} ms`],
    ['datastores created', datastores.made],
    ['datastores deleted', datastores.deleted],
    ['restarts requested', datastores.restarts],
    ['requests acknowledged', figures.acknowledged],
    ['requests refused', figures.refused],
    ['requests retried', figures.retried],
    ['duplicates detected', figures.duplicates],
    ['leftovers', outcome.leftovers.length],
    ['violations', outcome.violations.length],
    ['duration', `${Math.round(outcome.durationMs / 1000)} s`],
  ]
  return rows.map(([name, value]) => `${name.padEnd(32)}${value}`).join('\n')
}

function writerRow({ kind, way, sent, acknowledged, breaks }: WriterFigures): [string, string] {
  return [
    `rows of ${kind} by ${way}`,
    `${acknowledged} of ${sent} acknowledged, ${breaks} broken connections`,
  ]
}

function longestSilence({ engineRestarts }: DatastoreOutcome): number {
  return Math.max(0, ...engineRestarts.flatMap(({ silenceMs }) => Object.values(silenceMs)))
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
