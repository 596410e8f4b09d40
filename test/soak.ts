// npm run soak -- --swaps 50 --seed 7: repeatedly swaps a service and its neighbour under load, and checks
// every request and stream.
//   --swaps N   number of swaps, 50 by default
//   --seed S    seed of random choices, random by default; it is printed
//   --drain S   the drain limit in seconds, 30 by default; slow requests take up to two thirds of it
//   --edge E    container (default), or host: HAProxy as a process of this machine
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { describeViolations } from './crash/report.ts'
import { runSoak } from './soak/run.ts'

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    swaps: { type: 'string', default: '50' },
    seed: { type: 'string' },
    drain: { type: 'string', default: '30' },
    edge: { type: 'string', default: 'container' },
  },
})
if (values.help) {
  console.log('npm run soak -- [--swaps N] [--seed S] [--drain SECONDS] [--edge container|host]')
  process.exit(0)
}
const seed = Number(values.seed ?? randomInt(1_000_000))
const swaps = Number(values.swaps)
console.log(`${swaps} swaps, seed ${seed}`)
const edge = values.edge === 'host' ? 'host' : 'container'
const drainSeconds = Number(values.drain)
const outcome = await runSoak({ swaps, seed, drainSeconds, edge, log: (line) => console.log(line) })
if (outcome.violations.length > 0) console.log(describeViolations(outcome.violations))
console.log(`${outcome.swaps.length} swaps, ${outcome.violations.length} violations`)
process.exit(outcome.violations.length > 0 ? 1 : 0)
