// Short work of many clients: the loop turns in between, and one client's queue does not delay another.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SharedTurns } from '../../src/async/shared-turns.ts'

function busy(durationMs: number): void {
  const endsAt = performance.now() + durationMs
  while (performance.now() < endsAt);
}

test('a timer that is due runs between two pieces of work', async () => {
  const turns = new SharedTurns()
  const order: string[] = []
  const pieces = Array.from({ length: 20 }, (_, index) =>
    turns.run(`client ${index}`, () => {
      busy(10)
      order.push('work')
    }),
  )
  setTimeout(() => order.push('timer'), 1)

  await Promise.all(pieces)

  assert.ok(order.indexOf('timer') < 5, `after ${order.indexOf('timer')} pieces`)
})

test('a client with a hundred pieces of work waits for itself, not another client for it', async () => {
  const turns = new SharedTurns()
  const order: string[] = []
  const work = (client: string) => turns.run(client, () => void order.push(client))

  await Promise.all([...Array.from({ length: 100 }, () => work('busy')), work('calm'), work('calm')])

  assert.deepEqual(order.slice(0, 4), ['busy', 'calm', 'busy', 'calm'])
  assert.equal(order.length, 102)
})

test('work that throws or rejects fails alone', async () => {
  const turns = new SharedTurns()
  const thrown = turns.run('a', () => assert.fail('thrown'))
  const rejected = turns.run('a', () => Promise.reject(new Error('rejected')))
  const next = turns.run('a', () => turns.run('a', () => 1))

  await assert.rejects(thrown, /thrown/)
  await assert.rejects(rejected, /rejected/)
  assert.equal(await next, 1)
})
