// A few kills of a real daemon under load; `npm run crash` runs many. Failure messages contain the seed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeViolations } from './crash/report.ts'
import { runCrash } from './crash/run.ts'
import { seedOf, sized } from './support/system/drill-size.ts'

const kills = sized(1, 5)

test('a daemon that is killed at any moment under load keeps every promise', async (t) => {
  const seed = seedOf(t, 1)

  const outcome = await runCrash({ kills, seed, keep: false, log: (line) => t.diagnostic(line) })

  assert.equal(describeViolations(outcome.violations), '', `npm run crash -- --kills ${kills} --seed ${seed}`)
  assert.equal(outcome.kills.length, kills)
})
