// A few swaps under load; `npm run soak` runs many. Failure messages contain the seed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeViolations } from './crash/report.ts'
import { runSoak } from './soak/run.ts'
import { seedOf, sized } from './support/system/drill-size.ts'

const swaps = sized(2, 8)

test('swapping a service interrupts no request or stream of it or its neighbour', async (t) => {
  const seed = seedOf(t, 1)

  const log = (line: string) => t.diagnostic(line)
  const outcome = await runSoak({ swaps, seed, drainSeconds: 5, edge: 'container', log })

  const again = `npm run soak -- --swaps ${swaps} --drain 5 --seed ${seed}`
  assert.equal(describeViolations(outcome.violations), '', again)
  assert.equal(outcome.swaps.length, swaps)
})
