// What the run of datastores prints: a line for each kill and each restart of Docker, and a table of figures.
import type { Breach, Figures } from '../ledger.ts'
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

/** Plain JSON: it comes out of the namespace as a line. */
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
  breaches: Breach[]
  /** Where the files are, when they were kept. */
  kept: string | null
}

export function engineRestartLine({ number, how, awayMs, recoveryMs, silenceMs }: EngineRestart): string {
  const times = `away ${seconds(awayMs)}, all served again ${seconds(recoveryMs)} later`
  const silence = `no row for ${seconds(silenceMs.port)} by port, ${seconds(silenceMs.network)} by network`
  return `Docker ${number} ${how.padEnd(8)} ${times}; ${silence}`
}

export function datastoreTable(outcome: DatastoreOutcome): string {
  const { figures, killFigures, writers, engineRestarts, datastores } = outcome
  const rows: [string, string | number][] = [
    ['seed', outcome.seed],
    ['kills', outcome.kills],
    ['kills while it started', outcome.killsAtStart],
    ['kills around Docker’s restarts', outcome.killsWithoutEngine],
    ['restarts of Docker', engineRestarts.map(({ how }) => how).join(', ')],
    ...writers.map(writerRow),
    ['no row for, at rest', `${killFigures.longestAtRestMs} ms at most`],
    ['no row for, at a kill alone', `${killFigures.longestSilenceMs} ms at most`],
    ['no row for, at Docker’s restart', `${longestSilence(outcome)} ms at most`],
    ['datastores made', datastores.made],
    ['datastores deleted', datastores.deleted],
    ['restarts asked for', datastores.restarts],
    ['requests acknowledged', figures.acknowledged],
    ['requests refused', figures.refused],
    ['requests sent again', figures.retried],
    ['duplicates answered', figures.duplicates],
    ['leftovers', outcome.leftovers.length],
    ['breaches', outcome.breaches.length],
    ['took', `${Math.round(outcome.durationMs / 1000)} s`],
  ]
  return rows.map(([name, value]) => `${name.padEnd(32)}${value}`).join('\n')
}

function writerRow({ kind, way, sent, acknowledged, breaks }: WriterFigures): [string, string] {
  return [`rows of ${kind} by ${way}`, `${acknowledged} of ${sent} acknowledged, ${breaks} connections broke`]
}

function longestSilence({ engineRestarts }: DatastoreOutcome): number {
  return Math.max(0, ...engineRestarts.flatMap(({ silenceMs }) => Object.values(silenceMs)))
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
