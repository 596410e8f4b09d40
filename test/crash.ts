// npm run crash -- --kills 20 --seed 7: kills a real daemon under load again and again, then checks every
// promise.
//   --kills N   how often, 20 when left out
//   --seed S    what is decided by chance, a new one when left out; it is printed
//   --keep      keeps the files of the run
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { describeBreaches, table } from './crash/report.ts'
import { runCrash } from './crash/run.ts'

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    kills: { type: 'string', default: '20' },
    seed: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log('npm run crash -- [--kills N] [--seed S] [--keep]')
  process.exit(0)
}
const seed = Number(values.seed ?? randomInt(1_000_000))
const kills = Number(values.kills)
console.log(`${kills} kills with seed ${seed}`)
const outcome = await runCrash({ kills, seed, keep: values.keep, say: (line) => console.log(line) })
if (outcome.breaches.length > 0) console.log(describeBreaches(outcome.breaches))
console.log(table(outcome))
if (outcome.kept) console.log(`${'files'.padEnd(28)}${outcome.kept}`)
process.exit(outcome.breaches.length > 0 ? 1 : 0)
