import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { withFileLock } from '../../src/base-images/file-lock.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

test('two holders of one file lock take turns', async (t) => {
  const path = join(temporaryDirectory(t), 'lock')
  const order: string[] = []
  const hold = (name: string) =>
    withFileLock(path, async () => {
      order.push(`${name} in`)
      await new Promise((resolve) => setImmediate(resolve))
      order.push(`${name} out`)
    })

  await Promise.all([hold('a'), hold('b')])

  const [first, second] = order[0] === 'a in' ? ['a', 'b'] : ['b', 'a']
  assert.deepEqual(order, [`${first} in`, `${first} out`, `${second} in`, `${second} out`])
})

test('a waiter that gives up leaves the file lock to the next one', async (t) => {
  const path = join(temporaryDirectory(t), 'lock')
  const abandoning = new AbortController()
  const order: string[] = []
  const reason = new Error('canceled')

  await withFileLock(path, async () => {
    const refused = withFileLock(path, async () => void order.push('refused'), abandoning.signal)
    abandoning.abort(reason)
    await assert.rejects(refused, reason)
  })
  await withFileLock(path, async () => void order.push('next'))

  assert.deepEqual(order, ['next'])
})
