// A few kills of a real daemon and, where possible, one Docker restart with job runs and schedules; `npm run
// crash` runs many.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seedOf, sized } from '../support/system/drill-size.ts'
import { runJobCrash, whyNoNamespace } from './jobs/run.ts'
import { describeViolations } from './report.ts'

const kills = sized(1, 2)
const engineRestarts = sized(0, (await whyNoNamespace()) === null ? 1 : 0)

test('every run keeps its promises across kills of the daemon and a restart of Docker', async (t) => {
  const seed = seedOf(t, 1)

  const log = (line: string) => t.diagnostic(line)
  const outcome = await runJobCrash(t, {
    kills,
    engineRestarts,
    seed,
    keep: false,
    logsToStderr: false,
    log,
  })

  const sizes = `--kills ${kills} --engine-restarts ${engineRestarts}`
  const again = `npm run crash -- --part jobs ${sizes} --seed ${seed}`
  assert.equal(describeViolations(outcome.violations), '', again)
  assert.deepEqual([outcome.kills, outcome.engineRestarts.length], [kills, engineRestarts])
  assert.ok(outcome.runsStarted > 0, 'nothing ran')
})
