// npm run crash -- --kills 20 --seed 7: kills a real daemon under load again and again, then checks every
// promise. First with deploys, then with datastores, for which Docker too is stopped and killed.
//   --kills N            how often in each part, 20 when left out
//   --engine-restarts M  how often Docker restarts under the datastores, 3 when left out
//   --seed S             what is decided by chance, a new one when left out; it is printed
//   --part NAME          deploys or datastores alone
//   --keep               keeps the files of the run
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { datastoreTable } from './crash/datastores/report.ts'
import { runDatastoreCrash, whyNoNamespace } from './crash/datastores/run.ts'
import { describeBreaches, table } from './crash/report.ts'
import { runCrash } from './crash/run.ts'

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
  'npm run crash -- [--kills N] [--engine-restarts M] [--seed S] [--part deploys|datastores] [--keep]'
const seed = Number(values.seed ?? randomInt(1_000_000))
const kills = Number(values.kills)
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
    const engineRestarts = Number(values['engine-restarts'])
    console.log(`datastores: ${kills} kills and ${engineRestarts} restarts of Docker with seed ${seed}`)
    const cleanups: (() => unknown)[] = []
    // Who is inside the namespace hears it too, and ends: then all of it is gone.
    const wait = () => undefined
    process.on('SIGINT', wait)
    const scope = { after: (cleanup: () => unknown) => void cleanups.unshift(cleanup) }
    // Its lines come by standard error, while it goes on.
    const asked = { kills, engineRestarts, seed, keep, isSaidAtOnce: true, say: () => undefined }
    try {
      const outcome = await runDatastoreCrash(scope, asked)
      return tell(outcome, datastoreTable(outcome))
    } finally {
      process.off('SIGINT', wait)
      for (const cleanup of cleanups) await cleanup()
    }
  },
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
