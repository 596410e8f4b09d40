// npm run fuzz -- --requests 10000 --seed 7: sends a real daemon valid and invalid requests, generated from
// the OpenAPI document, then checks every promise.
//   --requests N   number of requests, 10,000 by default
//   --seed S       seed of the requests, random by default; it is printed
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { table } from './fuzz/report.ts'
import { runFuzz } from './fuzz/run.ts'

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    requests: { type: 'string', default: '10000' },
    seed: { type: 'string' },
  },
})
if (values.help) {
  console.log('npm run fuzz -- [--requests N] [--seed S]')
  process.exit(0)
}
const seed = Number(values.seed ?? randomInt(1_000_000))
const requests = Number(values.requests)
console.log(`${requests} requests, seed ${seed}`)
const cleanups: (() => unknown)[] = []
const cleanUp = async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void cleanUp().then(() => process.exit(130)))
}
try {
  const scope = { after: (cleanup: () => unknown) => void cleanups.unshift(cleanup) }
  const outcome = await runFuzz(scope, { requests, seed, log: (line) => console.log(line) })
  for (const wrong of outcome.wrongs) console.log(`\n${wrong}`)
  console.log(table(outcome))
  process.exitCode = outcome.wrongs.length > 0 ? 1 : 0
} finally {
  await cleanUp()
}
