// What the run of jobs prints when all is done: a table of figures.
import type { Breach, Figures } from '../ledger.ts'
import { type Book, cronServices } from './book.ts'
import type { EngineRestart } from './engine-restarts.ts'
import type { Kill } from './kills.ts'
import type { SettledRun } from './settled.ts'

/** Plain JSON: it may come out of a namespace as a line. */
export interface JobOutcome {
  seed: number
  kills: number
  killsAtStart: number
  killsByMoment: Record<string, number>
  killsWithoutEngine: number
  engineRestarts: EngineRestart[]
  /** How many ended how. */
  runs: Record<string, number>
  runsStarted: number
  runsByTask: Record<string, number>
  scheduled: number
  /** Instants without a run of which the API told. */
  instantsTold: number
  lines: number
  figures: Figures
  longestRestartMs: number
  leftovers: string[]
  durationMs: number
  breaches: Breach[]
  /** Where the files are, when they were kept. */
  kept: string | null
}

interface Source {
  kills: Kill[]
  runs: SettledRun[]
  book: Book
  isStarted: (run: SettledRun) => boolean
}

export function figuresOf({ kills, runs, book, isStarted }: Source) {
  const reasonOf = ({ record }: SettledRun) => {
    if (record === null) return 'lost'
    if (/which replaces it$/.test(record.error ?? '')) return 'replaced'
    if (/Docker engine was restarted/.test(record.error ?? '')) return 'ended by Docker'
    return record.status
  }
  return {
    kills: kills.length,
    killsAtStart: kills.filter(({ wasUp }) => !wasUp).length,
    killsByMoment: countBy(kills, ({ how }) => how),
    killsWithoutEngine: kills.filter(({ wasEngineAway }) => wasEngineAway).length,
    runs: countBy(runs, reasonOf),
    runsStarted: runs.filter(isStarted).length,
    runsByTask: countBy(runs, ({ task }) => task.kind),
    scheduled: runs.filter(({ entry }) => entry === null).length,
    instantsTold: cronServices(book).reduce((sum, { told }) => sum + told.size, 0),
    lines: runs.reduce((sum, { lines }) => sum + lines.length, 0),
    figures: book.ledger.figures,
  }
}

export function jobTable(outcome: JobOutcome): string {
  const { figures, engineRestarts } = outcome
  const rows: [string, string | number][] = [
    ['seed', outcome.seed],
    ['kills', outcome.kills],
    ['kills while it started', outcome.killsAtStart],
    ['kills by moment', list(outcome.killsByMoment)],
    ['kills around Docker’s restarts', outcome.killsWithoutEngine],
    ['restarts of Docker', engineRestarts.map(({ how }) => how).join(', ') || 'none'],
    ['runs', list(outcome.runs)],
    ['runs by what they did', list(outcome.runsByTask)],
    ['runs that began', outcome.runsStarted],
    ['runs of schedules', outcome.scheduled],
    ['instants told to have no run', outcome.instantsTold],
    ['lines in their logs', outcome.lines],
    ['requests acknowledged', figures.acknowledged],
    ['requests refused', figures.refused],
    ['requests sent again', figures.retried],
    ['duplicates answered', figures.duplicates],
    ['followers reconnected', figures.reconnects],
    ['longest restart to healthz', `${outcome.longestRestartMs} ms`],
    ['leftovers', outcome.leftovers.length],
    ['breaches', outcome.breaches.length],
    ['took', `${Math.round(outcome.durationMs / 1000)} s`],
  ]
  return rows.map(([name, value]) => `${name.padEnd(32)}${value}`).join('\n')
}

function countBy<T>(items: T[], keyOf: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const item of items) counts[keyOf(item)] = (counts[keyOf(item)] ?? 0) + 1
  return counts
}

function list(counts: Record<string, number>): string {
  return Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}
