// The printed results of a run: a line per kill and restart of Docker, a table of figures, and each violation
// with its evidence.
import type { EngineRestart } from './drill.ts'
import { countBy, type Kill } from './kills.ts'
import type { Ledger, Violation } from './ledger.ts'

/** Plain JSON, because it may leave a namespace as a line. */
export interface Outcome {
  seed: number
  kills: Kill[]
  engineRestarts: EngineRestart[]
  longestRestartMs: number
  partFigures: [name: string, value: string | number][]
  /** Each must be positive, else the run proves nothing. */
  proofs: Record<string, number>
  figures: Ledger['figures']
  leftovers: string[]
  durationMs: number
  violations: Violation[]
  /** The directory with the saved files, if any. */
  savedFiles: string | null
}

export function killLine({ number, how, livedMs, wasUp, wasEngineAway, underWay }: Kill, total: number) {
  const label = `kill ${String(number).padStart(String(total).length)} of ${total}`
  const moment = `${seconds(livedMs).padStart(8)} ${wasUp ? 'after start' : 'during startup'}`
  const docker = wasEngineAway ? ', Docker restarts' : ''
  return `${label}  ${how.padEnd(7)} ${moment.padEnd(23)}  ${list(underWay) || 'no active work'}${docker}`
}

export function restartLine({ how, awayMs, recoveryMs }: EngineRestart): string {
  return `Docker ${how}, away for ${seconds(awayMs)}, all well again ${seconds(recoveryMs)} later`
}

export function table(outcome: Outcome): string {
  const { figures, kills, engineRestarts } = outcome
  const states = kills.flatMap(({ underWay }) => Object.keys(underWay))
  const rows: [string, string | number][] = [
    ['seed', outcome.seed],
    ['kills', kills.length],
    ['kills during startup', kills.filter(({ wasUp }) => !wasUp).length],
    ['kills during Docker restarts', kills.filter(({ wasEngineAway }) => wasEngineAway).length],
    ['kills by moment', list(countBy(kills, ({ how }) => how))],
    ['kills by state', list(countBy(states, (state) => state))],
    ['Docker restarts', engineRestarts.map(({ how }) => how).join(', ') || 'none'],
    ...outcome.partFigures,
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

/** The most frequent first. */
export function list(counts: Record<string, number>): string {
  const sorted = Object.entries(counts).sort(([, one], [, other]) => other - one)
  return sorted.map(([name, count]) => `${name} ${count}`).join(', ')
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`
}

/** The first three violations of each rule with their evidence, and the number of the others. */
export function describeViolations(violations: Violation[]): string {
  const rules = [...new Set(violations.map(({ rule }) => rule))]
  return rules.map((rule) => describeRule(rule, violations)).join('\n')
}

function describeRule(rule: string, violations: Violation[]): string {
  const all = violations.filter((violation) => violation.rule === rule)
  const lines = all
    .slice(0, 3)
    .flatMap(({ text, evidence }) => [text, ...evidence.map((line) => `  ${line}`)])
  const more = all.length > 3 ? [`and ${all.length - 3} more`] : []
  return [`VIOLATED: ${rule}`, ...[...lines, ...more].map((line) => `  ${line}`)].join('\n')
}
