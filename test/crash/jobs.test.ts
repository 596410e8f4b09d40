// A few kills of a real daemon and, where possible, one Docker restart with job runs and schedules; `npm run
// crash` runs many.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { runJobCrash, whyNoNamespace } from './jobs/run.ts'
import { describeViolations } from './report.ts'

const engineRestarts = (await whyNoNamespace()) === null ? 1 : 0

test('every run keeps its promises across kills of the daemon and a restart of Docker', async (t) => {
  const seed = randomInt(1_000_000)
  t.diagnostic(`seed ${seed}`)

  const log = (line: string) => t.diagnostic(line)
  const outcome = await runJobCrash(t, {
    kills: 2,
    engineRestarts,
    seed,
    keep: false,
    logsToStderr: false,
    log,
  })

  const again = `npm run crash -- --part jobs --kills 2 --engine-restarts ${engineRestarts} --seed ${seed}`
  assert.equal(describeViolations(outcome.violations), '', again)
  assert.deepEqual([outcome.kills, outcome.engineRestarts.length], [2, engineRestarts])
  assert.ok(outcome.runsStarted > 0, 'nothing ran')
})
