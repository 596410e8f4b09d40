// Receipts: one per event, found by the event object.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createReceipts } from '../../src/supervisor/receipts.ts'

const receipt = (status: string) => ({ applied: true, record: { id: 'dep-1', status } })

test('two equal events have two receipts', async () => {
  const receipts = createReceipts()
  const [one, two] = [{ type: 'cancel' }, { type: 'cancel' }]
  const responses = Promise.all([receipts.expect(one, 'key-1'), receipts.expect(two, null)])
  assert.deepEqual([receipts.eventIdOf(one), receipts.eventIdOf(two)], ['key-1', null])
  receipts.settle(two, receipt('second'))
  receipts.settle(one, receipt('first'))
  assert.deepEqual(await responses, [receipt('first'), receipt('second')])
})

test('only the first response to an event counts', async () => {
  const receipts = createReceipts()
  const event = { type: 'cancel' }
  const response = receipts.expect(event, null)
  receipts.settle(event, receipt('first'))
  receipts.fail(event, new Error('too late'))
  receipts.settle(event, receipt('second'))
  assert.deepEqual(await response, receipt('first'))
})

test('responding to an event without a waiter does no harm', () => {
  const receipts = createReceipts()
  const event = { type: 'xstate.done.actor.work' }
  receipts.settle(event, receipt('live'))
  receipts.fail(event, new Error('nobody hears this'))
  assert.equal(receipts.eventIdOf(event), null)
})

test('at the end every waiter is answered once', async () => {
  const receipts = createReceipts()
  const [answered, open] = [{ type: 'note' }, { type: 'note' }]
  const responses = [receipts.expect(answered, null), receipts.expect(open, null)]
  receipts.settle(answered, receipt('live'))
  const end = new Error('the daemon is stopping')
  receipts.failAll(end)
  receipts.failAll(new Error('again'))
  assert.deepEqual(await Promise.allSettled(responses), [
    { status: 'fulfilled', value: receipt('live') },
    { status: 'rejected', reason: end },
  ])
})
