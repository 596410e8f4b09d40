// A few kills of a real daemon and, where it can be, a restart of Docker under job runs and schedules;
// `npm run crash` does many.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { runJobCrash, whyNoNamespace } from './jobs/run.ts'
import { describeBreaches } from './report.ts'

const engineRestarts = (await whyNoNamespace()) === null ? 1 : 0

test('every run keeps its promises through kills of the daemon and a restart of Docker', async (t) => {
  const seed = randomInt(1_000_000)
  t.diagnostic(`seed ${seed}`)

  const say = (line: string) => t.diagnostic(line)
  const outcome = await runJobCrash(t, {
    kills: 2,
    engineRestarts,
    seed,
    keep: false,
    isSaidAtOnce: false,
    say,
  })

  const again = `npm run crash -- --part jobs --kills 2 --engine-restarts ${engineRestarts} --seed ${seed}`
  assert.equal(describeBreaches(outcome.breaches), '', again)
  assert.deepEqual([outcome.kills, outcome.engineRestarts.length], [2, engineRestarts])
  assert.ok(outcome.runsStarted > 0, 'nothing ran')
})
