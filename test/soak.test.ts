// A few swaps under load; `npm run soak` runs many. Failure messages contain the seed.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { describeViolations } from './crash/report.ts'
import { table } from './soak/report.ts'
import { runSoak } from './soak/run.ts'

test('swapping a service interrupts no request or stream of it or its neighbour', async (t) => {
  const seed = randomInt(1_000_000)
  t.diagnostic(`seed ${seed}`)

  const log = (line: string) => t.diagnostic(line)
  const outcome = await runSoak({ swaps: 8, seed, drainSeconds: 5, edge: 'container', log })

  for (const line of table(outcome).split('\n')) t.diagnostic(line)
  const again = `npm run soak -- --swaps 8 --drain 5 --seed ${seed}`
  assert.equal(describeViolations(outcome.violations), '', again)
  assert.equal(outcome.swaps.length, 8)
})
