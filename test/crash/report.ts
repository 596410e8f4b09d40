// What the run prints: a line for each kill, a table of figures, and each breach with its evidence.
import type { Kill } from './killer.ts'
import type { Breach, Figures } from './ledger.ts'

export interface Outcome {
  seed: number
  kills: Kill[]
  outcomes: Record<string, number>
  services: number
  figures: Figures
  longestRestartMs: number
  /** Instances that only the comparison at a start removed. */
  strays: number
  leftovers: string[]
  durationMs: number
  breaches: Breach[]
  /** Where the files are, when they were kept. */
  kept: string | null
}

type Told = Omit<Kill, 'how'> & { how: string }

export function killLine({ number, how, livedMs, wasUp, underWay }: Told, total: number): string {
  const counts = Object.entries(underWay).map(([state, count]) => `${state} ${count}`)
  const place = `kill ${String(number).padStart(String(total).length)} of ${total}`
  const moment = `${(livedMs / 1000).toFixed(2).padStart(6)} s ${wasUp ? 'alive' : 'into its start'}`
  return `${place}  ${how.padEnd(7)} ${moment.padEnd(22)}  ${counts.join(', ') || 'nothing under way'}`
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
    ['kills while it started', kills.filter(({ wasUp }) => !wasUp).length],
    ['kills by phase', list(killsByState(kills))],
    ['services', outcome.services],
    ['deploys', list(outcomes)],
    ['requests acknowledged', figures.acknowledged],
    ['requests refused', figures.refused],
    ['requests sent again', figures.retried],
    ['duplicates answered', figures.duplicates],
    ['followers reconnected', figures.reconnects],
    ['longest restart to healthz', `${outcome.longestRestartMs} ms`],
    ['strays removed at a start', outcome.strays],
    ['leftovers', leftovers.length],
    ['breaches', outcome.breaches.length],
    ['took', `${Math.round(outcome.durationMs / 1000)} s`],
  ]
  return rows.map(([name, value]) => `${name.padEnd(28)}${value}`).join('\n')
}

/** How many kills met at least one actor in the state. */
function killsByState(kills: Kill[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const state of kills.flatMap(({ underWay }) => Object.keys(underWay))) {
    counts[state] = (counts[state] ?? 0) + 1
  }
  return counts
}

/** The first three of each rule with their evidence; of the others how many they are. */
export function describeBreaches(breaches: Breach[]): string {
  const rules = [...new Set(breaches.map(({ rule }) => rule))]
  return rules
    .map((rule) =>
      describeRule(
        rule,
        breaches.filter((breach) => breach.rule === rule),
      ),
    )
    .join('\n')
}

function describeRule(rule: string, breaches: Breach[]): string {
  const shown = breaches
    .slice(0, 3)
    .flatMap(({ text, evidence }) => [`  ${text}`, ...evidence.map((line) => `    ${line}`)])
  const more = breaches.length > 3 ? [`  and ${breaches.length - 3} more`] : []
  return [`BROKEN: ${rule}`, ...shown, ...more].join('\n')
}
