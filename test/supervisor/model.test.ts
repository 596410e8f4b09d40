// Random commands, failures, repetitions, crashes and restarts of a deploy lead to one end
// and a consistent history.
import { test } from 'node:test'
import { tryStories } from '../model/story.ts'
import { temporaryStorage } from '../support/supervisor/supervision.ts'
import { seedOf, sized } from '../support/system/drill-size.ts'

test('for any event sequence a deploy ends once, and no effect is early or repeated', async (t) => {
  const chance = { sequences: sized(50, 2000), seed: seedOf(t, 1) }
  await tryStories(await temporaryStorage(t), chance)
})
