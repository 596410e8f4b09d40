// npm run fuzz -- --requests 10000 --seed 7: sends a real daemon valid and invalid requests, generated from
// the OpenAPI document, then checks every promise.
//   --requests N   number of requests, 10,000 by default
//   --seed S       seed of the requests, random by default; it is printed
//   --stalls       sends the most hostile input of each kind instead, and measures how long others wait
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { table } from './fuzz/report.ts'
import { runFuzz } from './fuzz/run.ts'
import { measureStalls } from './fuzz/stalls.ts'
import type { Scope } from './support/system/directory.ts'

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    requests: { type: 'string', default: '10000' },
    seed: { type: 'string' },
    stalls: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log('npm run fuzz -- [--requests N] [--seed S] | --stalls')
  process.exit(0)
}
const seed = Number(values.seed ?? randomInt(1_000_000))
const requests = Number(values.requests)
const cleanups: (() => unknown)[] = []
const cleanUp = async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void cleanUp().then(() => process.exit(130)))
}
try {
  const scope = { after: (cleanup: () => unknown) => void cleanups.unshift(cleanup) }
  const log = (line: string) => console.log(line)
  process.exitCode = (await (values.stalls ? findNoLongStall(scope, log) : findNothingWrong(scope, log)))
    ? 0
    : 1
} finally {
  await cleanUp()
}

async function findNothingWrong(scope: Scope, log: (line: string) => void): Promise<boolean> {
  log(`${requests} requests, seed ${seed}`)
  const outcome = await runFuzz(scope, { requests, seed, log })
  for (const wrong of outcome.wrongs) log(`\n${wrong}`)
  log(table(outcome))
  return outcome.wrongs.length === 0
}

/** An idle machine shows less than 100 ms; a second is a defect on any. */
async function findNoLongStall(scope: Scope, log: (line: string) => void): Promise<boolean> {
  const stalls = await measureStalls(scope, log)
  return stalls.every(({ longestMs }) => longestMs !== null && longestMs < 1000)
}
