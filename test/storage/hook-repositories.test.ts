// The repositories of pushes that are remembered: the newest of each connection.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryStorage } from '../support/supervisor/supervision.ts'

test('a connection remembers its newest thousand repositories, and no fewer of another one', async (t) => {
  const { hookRepositories } = await temporaryStorage(t)
  const remember = (connection: string, id: number, key: string) =>
    hookRepositories.remember(connection, String(id), key)
  await remember('git-2', 1, 'git.test/other')
  await Promise.all(Array.from({ length: 1002 }, (_, at) => remember('git-1', at + 1, `git.test/${at + 1}`)))

  assert.deepEqual(await remember('git-1', 1002, 'git.test/new'), ['git.test/new', 'git.test/1002'])
  assert.deepEqual(await remember('git-1', 3, 'git.test/new-3'), ['git.test/new-3', 'git.test/3'])
  assert.deepEqual(await remember('git-1', 2, 'git.test/new-2'), ['git.test/new-2'])
  assert.deepEqual(await remember('git-2', 1, 'git.test/new'), ['git.test/new', 'git.test/other'])
})
