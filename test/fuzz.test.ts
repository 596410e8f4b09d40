// Generated requests against a real daemon; `npm run fuzz` sends more.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runFuzz } from './fuzz/run.ts'
import { seedOf, sized } from './support/system/drill-size.ts'

const requests = sized(100, 1000)

test('for any request the daemon follows its API document, leaks no secret and leaves nothing', async (t) => {
  const seed = seedOf(t, 957260)
  const outcome = await runFuzz(t, { requests, seed, log: (line) => t.diagnostic(line) })

  assert.deepEqual(outcome.wrongs, [], `npm run fuzz -- --requests ${requests} --seed ${seed}`)
  assert.ok(outcome.tally.requests >= requests)
  t.diagnostic(`${outcome.tally.requests} requests in ${Math.round(outcome.seconds)} s`)
})
