// What is said over the WebSocket of a datastore's client: what goes through, and what is the last word.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '../../src/errors.ts'
import { openHouse, start } from '../support/client-house.ts'
import { eventually } from '../support/supervised.ts'
import type { Talker } from '../support/talker.ts'

test('words, bytes, sizes and the end of input go in, both outputs and the exit code come out', async (t) => {
  const { talk } = await openHouse(t)
  const { talker, client } = await talk()
  const terminal = { name: 'xterm', cols: 80, rows: 24 }
  talker.say({ type: 'start', words: ['-c', 'select 1'], terminal })
  talker.socket.send(Buffer.from('ünö'))
  talker.say({ type: 'resize', cols: 100, rows: 50 })
  talker.say({ type: 'eof' })
  await eventually('all of it', () => client.asked.length === 2)
  assert.deepEqual(client.start, {
    words: ['-c', 'select 1'],
    terminal: { name: 'xterm', columns: 80, rows: 24 },
  })
  assert.deepEqual([client.input.map(String), client.asked], [['ünö'], ['resize 100 50', 'end']])
  assert.deepEqual(talker.heard, [])

  client.take()
  client.events!.wrote('stdout', Buffer.from('out'))
  client.events!.wrote('stderr', Buffer.from('err'))
  client.events!.ended(3)

  assert.equal(await talker.closed(), 1000)
  assert.deepEqual(talker.heard, [{ type: 'taken', bytes: 5 }, '1:out', '2:err', { type: 'exit', code: 3 }])
  await eventually('its close', () => client.isClosed)
})

test('a client that cannot be opened is told of as a problem is, without what is ours', async (t) => {
  const { begun } = await openHouse(t)
  const away = await begun()
  away.client.events!.failed(new Failure('docker_unavailable', 'Docker does not answer', 'look at it'))
  assert.equal(await away.talker.closed(), 1008)
  const broken = await begun()
  broken.client.events!.failed(new Error('a secret'))
  await broken.talker.closed()

  const error = { type: 'error', code: 'docker_unavailable', detail: 'Docker does not answer' }
  assert.deepEqual(away.talker.heard, [{ ...error, hint: 'look at it' }])
  assert.equal(broken.talker.heard[0].code, 'internal_error')
  assert.doesNotMatch(JSON.stringify(broken.talker.heard), /a secret/)
})

const wrong: Record<string, (talker: Talker) => void> = {
  'is no JSON': ({ socket }) => socket.send('{'),
  'has a type that nobody knows': ({ say }) => say({ type: 'dance' }),
  'begins with bytes': ({ socket }) => socket.send(Buffer.from('x')),
  'begins with a size': ({ say }) => say({ type: 'resize', cols: 1, rows: 1 }),
  'begins twice': ({ say }) => [start, start].forEach(say),
  'has a terminal without a size': ({ say }) => say({ ...start, terminal: { name: 'x', cols: 0, rows: 1 } }),
  'has a terminal of an odd name': ({ say }) =>
    say({ ...start, terminal: { name: 'x;y', cols: 1, rows: 1 } }),
  'has a NUL in a word': ({ say }) => say({ ...start, words: ['a\0b'] }),
}

for (const [what, send] of Object.entries(wrong)) {
  test(`a message that ${what} is refused, and is the last one`, async (t) => {
    const { talk } = await openHouse(t)
    const { talker, client } = await talk()
    send(talker)
    assert.equal(await talker.closed(), 1008)
    assert.deepEqual(
      talker.heard.map(({ type, code }) => [type, code]),
      [['error', 'invalid_request']],
    )
    await eventually('its close', () => client.isClosed)
  })
}

test('more than a MiB that is not taken, and a message that is too long, end the connection', async (t) => {
  const { begun } = await openHouse(t)
  const piece = Buffer.alloc(128 * 1024)
  const greedy = await begun()
  for (let count = 0; count < 8; count++) greedy.talker.socket.send(piece)
  await eventually('a MiB', () => greedy.client.input.length === 8)
  greedy.client.take()
  await greedy.talker.hears('that some is taken', (heard) => heard.length === 1)
  greedy.talker.socket.send(piece)
  await eventually('the next', () => greedy.client.input.length === 9)
  greedy.talker.socket.send(Buffer.from('x'))
  assert.equal(await greedy.talker.closed(), 1008)
  assert.equal(greedy.client.input.length, 9)

  const long = await begun()
  long.talker.socket.send(Buffer.alloc(256 * 1024 + 1))
  await long.talker.closed()
  await eventually('its close', () => long.client.isClosed)
  assert.deepEqual(long.client.input, [])
})

test('a client is not read while the person is behind, and goes on when he has caught up', async (t) => {
  const { begun } = await openHouse(t)
  const { talker, client } = await begun()
  talker.socket.pause()
  const piece = Buffer.alloc(64 * 1024, 'x')
  let sent = 0
  for (; !client.asked.includes('pause'); sent++) {
    client.events!.wrote('stdout', piece)
    await new Promise(setImmediate)
  }
  client.events!.wrote('stdout', piece)
  assert.deepEqual(client.asked, ['pause'])

  talker.socket.resume()
  await eventually('that it goes on', () => client.asked.length === 2)
  client.events!.ended(0)
  assert.equal(await talker.closed(), 1000)
  assert.deepEqual(client.asked, ['pause', 'resume'])
  assert.equal(talker.heard.join('').length, (sent + 1) * (piece.length + 2) + '[object Object]'.length)
})

test('who does not begin is sent away', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { talk } = await openHouse(t)
  const { talker, client } = await talk()
  t.mock.timers.tick(10_000)
  t.mock.timers.reset()
  assert.equal(await talker.closed(), 1008)
  assert.equal(talker.heard[0].code, 'invalid_request')
  await eventually('its close', () => client.isClosed)
})
