// npm run crash -- --kills 20 --seed 7: repeatedly kills a real daemon under load, then checks every promise.
// Runs with deploys, with job runs and datastores, for which Docker is also stopped and killed, then disks
// and pushes.
//   --kills N            kills per part, 20 by default
//   --engine-restarts M  Docker restarts with datastores and job runs, 3 by default
//   --seed S             seed of random choices, random by default; it is printed
//   --part NAME          only deploys, jobs, datastores, disks or pushes
//   --keep               saves the files of the run
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { describeViolations, table } from './crash/report.ts'
import { type PartName, parts, runPart } from './crash/run.ts'
import { whyNoNamespace } from './support/system/namespace.ts'

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
const seed = Number(values.seed ?? randomInt(1_000_000))
const kills = Number(values.kills)

/** Prints the results of a part; returns whether there was no violation. */
async function run(part: PartName): Promise<boolean> {
  const isShared = ['deploys', 'disks', 'pushes'].includes(part)
  const impossible = isShared ? null : await whyNoNamespace()
  if (impossible) console.log(`${part}: no Docker restarts: ${impossible}`)
  if (impossible && part === 'datastores') return true
  const engineRestarts = isShared || impossible ? 0 : Number(values['engine-restarts'])
  console.log(`${part}: ${kills} kills and ${engineRestarts} Docker restarts, seed ${seed}`)
  const cleanups: (() => unknown)[] = []
  const scope = { after: (cleanup: () => unknown) => void cleanups.unshift(cleanup) }
  // SIGINT also reaches the processes in the namespace; their exit cleans everything up.
  const wait = () => undefined
  process.on('SIGINT', wait)
  try {
    const options = { kills, engineRestarts, seed, keep: values.keep }
    const outcome = await runPart(scope, part, { ...options, log: (line) => console.log(line) })
    if (outcome.violations.length > 0) console.log(describeViolations(outcome.violations))
    console.log(table(outcome))
    if (outcome.savedFiles) console.log(`files: ${outcome.savedFiles}`)
    return outcome.violations.length === 0
  } finally {
    process.off('SIGINT', wait)
    for (const cleanup of cleanups) await cleanup()
  }
}

const names = Object.keys(parts) as PartName[]
const chosen = names.filter((name) => values.part === undefined || name === values.part)
if (values.help || chosen.length === 0) {
  console.log('npm run crash -- [--kills N] [--engine-restarts M] [--seed S] [--part NAME] [--keep]')
  console.log(`parts: ${names.join(' ')}`)
  process.exit(values.help ? 0 : 2)
}
let hasPassed = true
for (const part of chosen) hasPassed = (await run(part)) && hasPassed
process.exit(hasPassed ? 0 : 1)
