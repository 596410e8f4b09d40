// A thousand generated requests against a real daemon. The seed is fixed, so that a failure is caused by the
// change under test; `npm run fuzz` sends more requests with a new seed each time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runFuzz } from './fuzz/run.ts'

const seed = 957260

test('for any request the daemon follows its API document, leaks no secret and leaves nothing', async (t) => {
  const outcome = await runFuzz(t, { requests: 1000, seed, log: (line) => t.diagnostic(line) })

  assert.deepEqual(outcome.wrongs, [], `npm run fuzz -- --requests 1000 --seed ${seed}`)
  assert.ok(outcome.tally.requests >= 1000)
  t.diagnostic(`${outcome.tally.requests} requests in ${Math.round(outcome.seconds)} s`)
})
