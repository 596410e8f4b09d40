// The memory of bodies: a client has a limit, and those of large bodies keep no small one out.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BodyMemory } from '../../../src/http/server/body-memory.ts'

const refused = { code: 'slow_down' }

test('a client over its own limit is refused, and another is not', () => {
  const memory = new BodyMemory({ totalBytes: 1000, clientBytes: 100 })
  const first = memory.open('a')
  first.grow(60)
  const second = memory.open('a')

  assert.throws(() => second.grow(60), refused)
  memory.open('b').grow(60)
  second.release()
  first.grow(40)
})

test('while the memory is full, large bodies are refused and small ones are not', () => {
  const memory = new BodyMemory({ totalBytes: 1_000_000, clientBytes: 600_000 })
  memory.open('a').grow(600_000)
  const large = memory.open('b')
  large.grow(400_000)

  assert.throws(() => large.grow(1), refused)
  memory.open('c').grow(64 * 1024)
  assert.throws(() => memory.open('d').grow(65 * 1024), refused)
  large.release()
  memory.open('e').grow(65 * 1024)
})
