// The printed results of a job run: a table of figures.
import type { Figures, Violation } from '../ledger.ts'
import { type Book, cronServices } from './book.ts'
import type { EngineRestart } from './engine-restarts.ts'
import type { Kill } from './kills.ts'
import type { SettledRun } from './settled.ts'

/** Plain JSON, because it may leave a namespace as a line. */
export interface JobOutcome {
  seed: number
  kills: number
  killsAtStart: number
  killsByMoment: Record<string, number>
  killsWithoutEngine: number
  engineRestarts: EngineRestart[]
  /** The number of runs by outcome. */
  runs: Record<string, number>
  runsStarted: number
  runsByTask: Record<string, number>
  scheduled: number
  /** Skipped times that the API reported. */
  skipsReported: number
  lines: number
  figures: Figures
  longestRestartMs: number
  leftovers: string[]
  durationMs: number
  violations: Violation[]
  /** The directory with the saved files, if any. */
  savedFiles: string | null
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
    skipsReported: cronServices(book).reduce((sum, { skips }) => sum + skips.size, 0),
    lines: runs.reduce((sum, { lines }) => sum + lines.length, 0),
    figures: book.ledger.figures,
  }
}

export function jobTable(outcome: JobOutcome): string {
  const { figures, engineRestarts } = outcome
  const rows: [string, string | number][] = [
    ['seed', outcome.seed],
    ['kills', outcome.kills],
    ['kills during startup', outcome.killsAtStart],
    ['kills by moment', list(outcome.killsByMoment)],
    ['kills during Docker restarts', outcome.killsWithoutEngine],
    ['Docker restarts', engineRestarts.map(({ how }) => how).join(', ') || 'none'],
    ['runs', list(outcome.runs)],
    ['runs by task', list(outcome.runsByTask)],
    ['runs started', outcome.runsStarted],
    ['scheduled runs', outcome.scheduled],
    ['skips reported', outcome.skipsReported],
    ['log lines', outcome.lines],
    ['requests acknowledged', figures.acknowledged],
    ['requests refused', figures.refused],
    ['requests retried', figures.retried],
    ['duplicates detected', figures.duplicates],
    ['followers reconnected', figures.reconnects],
    ['longest restart to healthz', `${outcome.longestRestartMs} ms`],
    ['leftovers', outcome.leftovers.length],
    ['violations', outcome.violations.length],
    ['duration', `${Math.round(outcome.durationMs / 1000)} s`],
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
