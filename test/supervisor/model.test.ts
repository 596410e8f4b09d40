// Random commands, failures, repetitions, crashes and restarts of a deploy lead to one end and a consistent
// history. `npm run model` sets the number of runs and the seed.
import { test } from 'node:test'
import { tryStories } from '../model/story.ts'
import { temporaryStorage } from '../support/supervisor/supervision.ts'

test('for any event sequence a deploy ends once, and no effect is early or repeated', async (t) => {
  const seed = Date.now() % 2 ** 31
  t.diagnostic(`seed ${seed}`)
  await tryStories(await temporaryStorage(t), { sequences: 200, seed })
})
