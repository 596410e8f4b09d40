// Real reader processes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { read } from '../../src/readers/read.ts'

const owner = { owner: 'test' }
const jsonOf = (text: string) => read('json', Buffer.from(text), owner)

test('a reader parses JSON, and throws what its task throws', async () => {
  assert.deepEqual(await jsonOf('{"a":[1,"é"]}'), { a: [1, 'é'] })
  await assert.rejects(jsonOf('{"a":'), { code: 'invalid_request', message: 'the body is not valid JSON' })
})
