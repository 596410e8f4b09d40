// Rounds of work that callers share.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SharedRounds } from '../../src/async/shared-rounds.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('calls during a round share the next one, also after a round that failed', async () => {
  const ends: ((error?: Error) => void)[] = []
  const rounds = new SharedRounds(
    () => new Promise((resolve, reject) => ends.push((error) => (error ? reject(error) : resolve()))),
  )
  const first = rounds.run()
  await turn()
  const [second, third] = [rounds.run(), rounds.run()]
  await turn()
  assert.deepEqual([second === third, ends.length], [true, 1])
  ends[0]!(new Error('failed'))
  await assert.rejects(first, /failed/)
  await turn()
  assert.equal(ends.length, 2)
  ends[1]!()
  await Promise.all([second, third, rounds.settled()])
})
