// npm run chaos -- --minutes 60 --seed 7: deploys, jobs, datastores, backups, restores and requests through
// the edge run at once, while the daemon, Docker and HAProxy are stopped, hung and killed every few seconds.
// The first broken promise ends the run.
//   --minutes N   60 by default; the last round is finished
//   --seed S      seed of random choices, random by default; it is printed
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { everything } from './chaos/everything.ts'
import type { Passed } from './chaos/namespace-run.ts'
import type { ChaosOutcome } from './chaos/run.ts'
import { describeViolations } from './crash/report.ts'
import { temporaryDirectory } from './support/system/directory.ts'
import { runInside, whyNoNamespace } from './support/system/namespace.ts'

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '60' }, seed: { type: 'string' } },
})
const impossible = await whyNoNamespace()
if (impossible) {
  console.error(`chaos needs namespaces: ${impossible}`)
  process.exit(2)
}
const cleanups: (() => unknown)[] = []
const scope = { after: (cleanup: () => unknown) => void cleanups.unshift(cleanup) }
// SIGINT also reaches the processes in the namespace; their exit cleans everything up.
process.on('SIGINT', () => undefined)
try {
  const seed = Number(values.seed ?? randomInt(1_000_000))
  console.log(`chaos for ${values.minutes} minutes, seed ${seed}`)
  const directory = temporaryDirectory(scope)
  const prepared = await everything.prepare(directory, true)
  const passed: Passed = { minutes: Number(values.minutes), seed, directory, prepared }
  const url = new URL('./chaos/namespace-run.ts', import.meta.url).href
  const { lines } = await runInside(url, { CHAOS_RUN: JSON.stringify(passed) })
  const { outcome, failure } = JSON.parse(lines.at(-1) ?? '{}') as {
    outcome?: ChaosOutcome
    failure?: string
  }
  if (!outcome) throw new Error(failure ?? `the run ended without an outcome: ${lines.slice(-3).join('\n')}`)
  print(outcome)
  process.exitCode = outcome.violations.length === 0 ? 0 : 1
} finally {
  for (const cleanup of cleanups) await cleanup()
}

function print({ violations, killedIn, faults, figures, requests, ...rest }: ChaosOutcome): void {
  if (violations.length > 0) console.log(describeViolations(violations))
  const rows: [string, string | number][] = [
    ['seed', rest.seed],
    ['rounds', rest.rounds],
    ['duration', `${Math.round(rest.durationMs / 1000)} s`],
    ...Object.entries(faults),
    ...Object.entries(requests).map(([name, value]): [string, number] => [`requests ${name}`, value]),
    ...figures.map(([name, value]): [string, string | number] => [`last round: ${name}`, value]),
    ...Object.entries(killedIn).map(([path, count]): [string, number] => [`killed in ${path}`, count]),
    ['files', rest.savedFiles ?? 'none'],
    ['violations', violations.length],
  ]
  for (const [name, value] of rows) console.log(`${name.padEnd(40)}${value}`)
}
