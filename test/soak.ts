// npm run soak -- --swaps 50 --seed 7: repeatedly swaps a service and its neighbour under load, and checks
// every request and stream.
//   --swaps N   number of swaps, 50 by default
//   --seed S    seed of random choices, random by default; it is printed
//   --drain S   the drain limit in seconds, 30 by default; slow requests take up to two thirds of it
//   --edge E    container (default), or host: HAProxy as a process of this machine
// npm run soak -- --years 1: 50,000 deploys, 500,000 job runs, certificates and backups a year over HTTP, on
// the real store and charts, without Docker; what the server keeps must stop growing.
import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { describeViolations } from './crash/report.ts'
import { runSoak } from './soak/run.ts'
import { describe, growthOf, growths, runYears } from './soak/years.ts'

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    swaps: { type: 'string', default: '50' },
    seed: { type: 'string' },
    drain: { type: 'string', default: '30' },
    edge: { type: 'string', default: 'container' },
    years: { type: 'string' },
  },
})
if (values.help) {
  console.log('npm run soak -- [--swaps N] [--seed S] [--drain SECONDS] [--edge container|host] | --years Y')
  process.exit(0)
}
if (values.years !== undefined) {
  const directory = mkdtempSync(join(tmpdir(), 'berth-years-'))
  const log = (line: string) => console.log(line)
  const outcome = await runYears({ directory, years: Number(values.years), log })
  for (const what of ['directoryBytes', 'heapBytes', 'descriptors', 'startMs'] as const)
    console.log(`${what}: ${growthOf(outcome.samples, what).toFixed(2)} times the first half`)
  if (outcome.heapSlope) console.log(`heap after ten minutes: ${describe(outcome.heapSlope)}`)
  const grown = growths(outcome)
  if (!outcome.heapSlope) grown.push('the heap was not measured for long enough: run more years')
  if (grown.length > 0) console.log(`not passed: ${grown.join('; ')}`)
  rmSync(directory, { recursive: true })
  process.exit(grown.length > 0 ? 1 : 0)
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
