// Chance against a deploy: commands, failures, repetitions, crashes and restarts in any order leave one end
// and one tale. `npm run model` tries it as often, and with the seed, that it is told.
import { test } from 'node:test'
import { tryStories } from '../model/story.ts'
import { temporaryStorage } from '../support/supervision.ts'

test('whatever happens to a deploy, it has one end, no gap, and no effect too early or twice', async (t) => {
  const seed = Date.now() % 2 ** 31
  t.diagnostic(`seed ${seed}`)
  await tryStories(await temporaryStorage(t), { sequences: 200, seed })
})
