// The printed results of a run: a line per kill, a table of figures, and each violation with its evidence.
import type { Kill } from './killer.ts'
import type { Figures, Violation } from './ledger.ts'

export interface Outcome {
  seed: number
  kills: Kill[]
  outcomes: Record<string, number>
  services: number
  figures: Figures
  longestRestartMs: number
  /** Instances that only the reconciliation at startup removed. */
  orphans: number
  leftovers: string[]
  durationMs: number
  violations: Violation[]
  /** The directory with the saved files, if any. */
  savedFiles: string | null
}

type AnyKill = Omit<Kill, 'how'> & { how: string }

export function killLine({ number, how, livedMs, wasUp, underWay }: AnyKill, total: number): string {
  const counts = Object.entries(underWay).map(([state, count]) => `${state} ${count}`)
  const label = `kill ${String(number).padStart(String(total).length)} of ${total}`
  const moment = `${(livedMs / 1000).toFixed(2).padStart(6)} s ${wasUp ? 'after start' : 'during startup'}`
  return `${label}  ${how.padEnd(7)} ${moment.padEnd(22)}  ${counts.join(', ') || 'no active work'}`
}

export function table(outcome: Outcome): string {
  const { figures, kills, leftovers, outcomes } = outcome
  const list = (counts: Record<string, number>) =>
    Object.entries(counts)
      .sort(([, a], [, b]) => b - a)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ')
  const rows: [string, string | number][] = [
    ['seed', outcome.seed],
    ['kills', kills.length],
    ['kills during startup', kills.filter(({ wasUp }) => !wasUp).length],
    ['kills by phase', list(killsByState(kills))],
    ['services', outcome.services],
    ['deploys', list(outcomes)],
    ['requests acknowledged', figures.acknowledged],
    ['requests refused', figures.refused],
    ['requests retried', figures.retried],
    ['duplicates detected', figures.duplicates],
    ['followers reconnected', figures.reconnects],
    ['longest restart to healthz', `${outcome.longestRestartMs} ms`],
    ['orphans removed at startup', outcome.orphans],
    ['leftovers', leftovers.length],
    ['violations', outcome.violations.length],
    ['duration', `${Math.round(outcome.durationMs / 1000)} s`],
  ]
  return rows.map(([name, value]) => `${name.padEnd(28)}${value}`).join('\n')
}

/** The number of kills that hit at least one actor in each state. */
function killsByState(kills: Kill[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const state of kills.flatMap(({ underWay }) => Object.keys(underWay))) {
    counts[state] = (counts[state] ?? 0) + 1
  }
  return counts
}

/** The first three violations of each rule with their evidence, and the number of the others. */
export function describeViolations(violations: Violation[]): string {
  const rules = [...new Set(violations.map(({ rule }) => rule))]
  return rules
    .map((rule) =>
      describeRule(
        rule,
        violations.filter((violation) => violation.rule === rule),
      ),
    )
    .join('\n')
}

function describeRule(rule: string, violations: Violation[]): string {
  const label = violations
    .slice(0, 3)
    .flatMap(({ text, evidence }) => [`  ${text}`, ...evidence.map((line) => `    ${line}`)])
  const more = violations.length > 3 ? [`  and ${violations.length - 3} more`] : []
  return [`VIOLATED: ${rule}`, ...label, ...more].join('\n')
}
