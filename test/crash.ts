// npm run crash -- --kills 20 --seed 7: repeatedly kills a real daemon under load, then checks every promise.
// Runs with deploys, then with datastores and job runs, for which Docker is also stopped and killed.
//   --kills N            kills per part, 20 by default
//   --engine-restarts M  Docker restarts with datastores and job runs, 3 by default
//   --seed S             seed of random choices, random by default; it is printed
//   --part NAME          only deploys, datastores or jobs
//   --keep               saves the files of the run
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { datastoreTable } from './crash/datastores/report.ts'
import { runDatastoreCrash, whyNoNamespace } from './crash/datastores/run.ts'
import { jobTable } from './crash/jobs/report.ts'
import { runJobCrash } from './crash/jobs/run.ts'
import { describeViolations, table } from './crash/report.ts'
import { runCrash } from './crash/run.ts'
import type { Scope } from './support/system/directory.ts'

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    kills: { type: 'string', default: '20' },
    'engine-restarts': { type: 'string', default: '3' },
    seed: { type: 'string' },
    part: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
})
const usage =
  'npm run crash -- [--kills N] [--engine-restarts M] [--seed S] [--part deploys|datastores|jobs] [--keep]'
const seed = Number(values.seed ?? randomInt(1_000_000))
const kills = Number(values.kills)
const engineRestarts = Number(values['engine-restarts'])
const { keep } = values

const parts: Record<string, () => Promise<boolean>> = {
  async deploys() {
    console.log(`deploys: ${kills} kills, seed ${seed}`)
    const outcome = await runCrash({ kills, seed, keep, log: (line) => console.log(line) })
    return report(outcome, table(outcome))
  },
  async datastores() {
    const impossible = await whyNoNamespace()
    if (impossible !== null) {
      console.log(`datastores: skipped, Docker cannot be restarted here: ${impossible}`)
      return true
    }
    console.log(`datastores: ${kills} kills and ${engineRestarts} Docker restarts, seed ${seed}`)
    return withCleanups(async (scope) => {
      const outcome = await runDatastoreCrash(scope, optionsFor(engineRestarts))
      return report(outcome, datastoreTable(outcome))
    })
  },
  async jobs() {
    const impossible = engineRestarts > 0 ? await whyNoNamespace() : null
    if (impossible !== null)
      console.log(`jobs: no Docker restarts, Docker cannot be restarted here: ${impossible}`)
    const restarts = impossible === null ? engineRestarts : 0
    console.log(`jobs: ${kills} kills and ${restarts} Docker restarts, seed ${seed}`)
    return withCleanups(async (scope) => {
      const outcome = await runJobCrash(scope, optionsFor(restarts))
      return report(outcome, jobTable(outcome))
    })
  },
}

/** Log lines go to standard error during the run. */
function optionsFor(restarts: number) {
  return { kills, engineRestarts: restarts, seed, keep, logsToStderr: true, log: () => undefined }
}

async function withCleanups(run: (scope: Scope) => Promise<boolean>): Promise<boolean> {
  const cleanups: (() => unknown)[] = []
  // SIGINT also reaches the processes in the namespace; their exit cleans everything up.
  const wait = () => undefined
  process.on('SIGINT', wait)
  try {
    return await run({ after: (cleanup) => void cleanups.unshift(cleanup) })
  } finally {
    process.off('SIGINT', wait)
    for (const cleanup of cleanups) await cleanup()
  }
}

/** Prints the results of a part; returns whether there was no violation. */
function report(
  outcome: { violations: Parameters<typeof describeViolations>[0]; savedFiles: string | null },
  figures: string,
) {
  if (outcome.violations.length > 0) console.log(describeViolations(outcome.violations))
  console.log(figures)
  if (outcome.savedFiles) console.log(`files: ${outcome.savedFiles}`)
  return outcome.violations.length === 0
}

const chosen = values.part === undefined ? Object.values(parts) : [parts[values.part]]
if (values.help || chosen.includes(undefined)) {
  console.log(usage)
  process.exit(values.help ? 0 : 2)
}
let hasPassed = true
for (const run of chosen) hasPassed = (await run!()) && hasPassed
process.exit(hasPassed ? 0 : 1)
