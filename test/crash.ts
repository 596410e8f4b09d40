// npm run crash -- --kills 20 --seed 7: kills a real daemon under load again and again, then checks every
// promise. First with deploys, then with datastores and with job runs, for which Docker too is stopped and
// killed.
//   --kills N            how often in each part, 20 when left out
//   --engine-restarts M  how often Docker restarts under datastores and job runs, 3 when left out
//   --seed S             what is decided by chance, a new one when left out; it is printed
//   --part NAME          deploys, datastores or jobs alone
//   --keep               keeps the files of the run
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { datastoreTable } from './crash/datastores/report.ts'
import { runDatastoreCrash, whyNoNamespace } from './crash/datastores/run.ts'
import { jobTable } from './crash/jobs/report.ts'
import { runJobCrash } from './crash/jobs/run.ts'
import { describeBreaches, table } from './crash/report.ts'
import { runCrash } from './crash/run.ts'
import type { Scope } from './support/directory.ts'

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
    console.log(`deploys: ${kills} kills with seed ${seed}`)
    const outcome = await runCrash({ kills, seed, keep, say: (line) => console.log(line) })
    return tell(outcome, table(outcome))
  },
  async datastores() {
    const impossible = await whyNoNamespace()
    if (impossible !== null) {
      console.log(`datastores: left out, because Docker cannot be restarted here: ${impossible}`)
      return true
    }
    console.log(`datastores: ${kills} kills and ${engineRestarts} restarts of Docker with seed ${seed}`)
    return withCleanups(async (scope) => {
      const outcome = await runDatastoreCrash(scope, asked(engineRestarts))
      return tell(outcome, datastoreTable(outcome))
    })
  },
  async jobs() {
    const impossible = engineRestarts > 0 ? await whyNoNamespace() : null
    if (impossible !== null) console.log(`jobs: Docker cannot be restarted here: ${impossible}`)
    const restarts = impossible === null ? engineRestarts : 0
    console.log(`jobs: ${kills} kills and ${restarts} restarts of Docker with seed ${seed}`)
    return withCleanups(async (scope) => {
      const outcome = await runJobCrash(scope, asked(restarts))
      return tell(outcome, jobTable(outcome))
    })
  },
}

/** Its lines come by standard error, while it goes on. */
function asked(restarts: number) {
  return { kills, engineRestarts: restarts, seed, keep, isSaidAtOnce: true, say: () => undefined }
}

async function withCleanups(run: (scope: Scope) => Promise<boolean>): Promise<boolean> {
  const cleanups: (() => unknown)[] = []
  // Who is inside the namespace hears it too, and ends: then all of it is gone.
  const wait = () => undefined
  process.on('SIGINT', wait)
  try {
    return await run({ after: (cleanup) => void cleanups.unshift(cleanup) })
  } finally {
    process.off('SIGINT', wait)
    for (const cleanup of cleanups) await cleanup()
  }
}

/** Prints what came of a part; whether it kept every promise. */
function tell(
  outcome: { breaches: Parameters<typeof describeBreaches>[0]; kept: string | null },
  figures: string,
) {
  if (outcome.breaches.length > 0) console.log(describeBreaches(outcome.breaches))
  console.log(figures)
  if (outcome.kept) console.log(`files: ${outcome.kept}`)
  return outcome.breaches.length === 0
}

const chosen = values.part === undefined ? Object.values(parts) : [parts[values.part]]
if (values.help || chosen.includes(undefined)) {
  console.log(usage)
  process.exit(values.help ? 0 : 2)
}
let isKept = true
for (const run of chosen) isKept = (await run!()) && isKept
process.exit(isKept ? 0 : 1)
