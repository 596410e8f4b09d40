// A thousand requests of chance against a real daemon; `npm run fuzz` asks many more. The seed is in the name
// of a failure.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { runFuzz } from './fuzz/run.ts'

test('whatever is asked, the daemon keeps to its document, tells no secret, leaves nothing', async (t) => {
  const seed = randomInt(1_000_000)
  t.diagnostic(`seed ${seed}`)

  const outcome = await runFuzz(t, { requests: 1000, seed, say: (line) => t.diagnostic(line) })

  assert.deepEqual(outcome.wrongs, [], `npm run fuzz -- --requests 1000 --seed ${seed}`)
  assert.ok(outcome.tally.requests >= 1000)
  t.diagnostic(`${outcome.tally.requests} requests in ${Math.round(outcome.seconds)} s`)
})
