// A few kills of a real daemon under load; `npm run crash` runs many. Failure messages contain the seed.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { describeViolations } from './crash/report.ts'
import { runCrash } from './crash/run.ts'

test('a daemon that is killed at any moment under load keeps every promise', async (t) => {
  const seed = randomInt(1_000_000)
  t.diagnostic(`seed ${seed}`)

  const outcome = await runCrash({ kills: 5, seed, keep: false, log: (line) => t.diagnostic(line) })

  assert.equal(describeViolations(outcome.violations), '', `npm run crash -- --kills 5 --seed ${seed}`)
  assert.equal(outcome.kills.length, 5)
})
