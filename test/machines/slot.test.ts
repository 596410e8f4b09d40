// The placeholder of a slot without an effect.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createActor, toPromise } from 'xstate'
import { type SlotInput, type SlotOutput, slot } from '../../machines/slot.ts'

test('an unimplemented slot fails immediately and names its machine', async () => {
  const actor = createActor(slot<SlotInput, SlotOutput>(), { input: { id: 'dep-1' } })
  actor.subscribe({ error: () => undefined })
  actor.start()
  await assert.rejects(toPromise(actor), { message: 'no effect was provided for a slot of dep-1' })
})
