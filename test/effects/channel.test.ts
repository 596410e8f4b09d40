// Many writers, one reader: nothing lost, each writer's order kept, and writers that wait while the reader is
// behind.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChannel } from '../../src/effects/channel.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('what several writers put comes out whole, each writer’s in its order', async () => {
  const controller = new AbortController()
  const channel = createChannel<[writer: number, value: number]>(controller.signal)
  const write = async (writer: number) => {
    for (let value = 0; value < 1000; value++) await channel.put([writer, value])
  }
  const writing = Promise.all([0, 1, 2].map(write))

  const read: number[][] = [[], [], []]
  for await (const [writer, value] of channel) {
    read[writer]!.push(value)
    if (read.every(({ length }) => length === 1000)) controller.abort()
  }

  await writing
  const expected = Array.from({ length: 1000 }, (_, value) => value)
  assert.deepEqual(read, [expected, expected, expected])
})

test('a writer waits while the reader is behind, and goes on when there is room', async () => {
  const controller = new AbortController()
  const channel = createChannel<number>(controller.signal)
  let written = 0
  const writing = (async () => {
    for (; written < 1000; written++) await channel.put(written)
  })()
  for (let round = 0; round < 50; round++) await turn()
  assert.equal(written, 256)

  const reader = channel[Symbol.asyncIterator]()
  assert.deepEqual(await reader.next(), { done: false, value: 0 })
  await reader.next()
  await turn()

  assert.ok(written > 256)
  controller.abort()
  await writing
})

test('a reader that waits is woken by the next value', async () => {
  const channel = createChannel<string>(new AbortController().signal)
  const next = channel[Symbol.asyncIterator]().next()
  await turn()
  await channel.put('hello')
  assert.deepEqual(await next, { done: false, value: 'hello' })
})

test('the signal ends the reader and every writer, also those that wait', async () => {
  const controller = new AbortController()
  const channel = createChannel<number>(controller.signal)
  for (let value = 0; value < 256; value++) await channel.put(value)
  const stuck = [channel.put(256), channel.put(257)]
  const idle = createChannel<number>(controller.signal)[Symbol.asyncIterator]().next()
  await turn()

  controller.abort()

  await Promise.all(stuck)
  assert.equal((await idle).done, true)
  await channel.put(258)
})
