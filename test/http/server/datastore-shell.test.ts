// Messages over the WebSocket of a datastore's shell: what passes through, and which message is the last.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '../../../src/errors.ts'
import { openShellApi, start } from '../../support/http/shell-api.ts'
import type { WsClient } from '../../support/http/ws-client.ts'
import { eventually } from '../../support/supervisor/supervision.ts'

test('arguments, input and sizes go in; both outputs and the exit code come out', async (t) => {
  const { open } = await openShellApi(t)
  const { ws, client } = await open()
  const terminal = { name: 'xterm', cols: 80, rows: 24 }
  ws.send({ type: 'start', words: ['-c', 'select 1'], terminal })
  ws.socket.send(Buffer.from('ünö'))
  ws.send({ type: 'resize', cols: 100, rows: 50 })
  ws.send({ type: 'eof' })
  await eventually('all of it', () => client.calls.length === 2)
  assert.deepEqual(client.start, {
    args: ['-c', 'select 1'],
    terminal: { name: 'xterm', columns: 80, rows: 24 },
  })
  assert.deepEqual([client.input.map(String), client.calls], [['ünö'], ['resize 100 50', 'end']])
  assert.deepEqual(ws.received, [])

  client.take()
  client.events!.wrote('stdout', Buffer.from('out'))
  client.events!.wrote('stderr', Buffer.from('err'))
  client.events!.ended(3)

  assert.equal(await ws.closed(), 1000)
  assert.deepEqual(ws.received, [{ type: 'taken', bytes: 5 }, '1:out', '2:err', { type: 'exit', code: 3 }])
  await eventually('its close', () => client.isClosed)
})

test('a client that cannot be opened is reported as a problem, without internal details', async (t) => {
  const { openStarted } = await openShellApi(t)
  const away = await openStarted()
  away.client.events!.failed(new Failure('docker_unavailable', 'Docker does not respond', 'look at it'))
  assert.equal(await away.ws.closed(), 1008)
  const broken = await openStarted()
  broken.client.events!.failed(new Error('a secret'))
  await broken.ws.closed()

  const error = { type: 'error', code: 'docker_unavailable', detail: 'Docker does not respond' }
  assert.deepEqual(away.ws.received, [{ ...error, hint: 'look at it' }])
  assert.equal(broken.ws.received[0].code, 'internal_error')
  assert.doesNotMatch(JSON.stringify(broken.ws.received), /a secret/)
})

const wrong: Record<string, (ws: WsClient) => void> = {
  'is not JSON': ({ socket }) => socket.send('{'),
  'has an unknown type': ({ send }) => send({ type: 'dance' }),
  'begins with bytes': ({ socket }) => socket.send(Buffer.from('x')),
  'begins with a size': ({ send }) => send({ type: 'resize', cols: 1, rows: 1 }),
  'begins twice': ({ send }) => [start, start].forEach(send),
  'has a terminal without a size': ({ send }) =>
    send({ ...start, terminal: { name: 'x', cols: 0, rows: 1 } }),
  'has a terminal of an odd name': ({ send }) =>
    send({ ...start, terminal: { name: 'x;y', cols: 1, rows: 1 } }),
  'has a NUL in a word': ({ send }) => send({ ...start, words: ['a\0b'] }),
}

for (const [what, send] of Object.entries(wrong)) {
  test(`a message that ${what} is rejected, and is the last one`, async (t) => {
    const { open } = await openShellApi(t)
    const { ws, client } = await open()
    send(ws)
    assert.equal(await ws.closed(), 1008)
    assert.deepEqual(
      ws.received.map(({ type, code }) => [type, code]),
      [['error', 'invalid_request']],
    )
    await eventually('its close', () => client.isClosed)
  })
}

test('more than a MiB of unread input, and an oversized message, end the connection', async (t) => {
  const { openStarted } = await openShellApi(t)
  const piece = Buffer.alloc(128 * 1024)
  const greedy = await openStarted()
  for (let count = 0; count < 8; count++) greedy.ws.socket.send(piece)
  await eventually('a MiB', () => greedy.client.input.length === 8)
  greedy.client.take()
  await greedy.ws.receives('some to be accepted', (received) => received.length === 1)
  greedy.ws.socket.send(piece)
  await eventually('the next', () => greedy.client.input.length === 9)
  greedy.ws.socket.send(Buffer.from('x'))
  assert.equal(await greedy.ws.closed(), 1008)
  assert.equal(greedy.client.input.length, 9)

  const long = await openStarted()
  long.ws.socket.send(Buffer.alloc(256 * 1024 + 1))
  await long.ws.closed()
  await eventually('its close', () => long.client.isClosed)
  assert.deepEqual(long.client.input, [])
})

test('a client is paused while its user is behind, and resumes when the user has caught up', async (t) => {
  const { openStarted } = await openShellApi(t)
  const { ws, client } = await openStarted()
  ws.socket.pause()
  const piece = Buffer.alloc(64 * 1024, 'x')
  let sent = 0
  for (; !client.calls.includes('pause'); sent++) {
    client.events!.wrote('stdout', piece)
    await new Promise(setImmediate)
  }
  client.events!.wrote('stdout', piece)
  assert.deepEqual(client.calls, ['pause'])

  ws.socket.resume()
  await eventually('it to continue', () => client.calls.length === 2)
  client.events!.ended(0)
  assert.equal(await ws.closed(), 1000)
  assert.deepEqual(client.calls, ['pause', 'resume'])
  assert.equal(ws.received.join('').length, (sent + 1) * (piece.length + 2) + '[object Object]'.length)
})

test('a client that sends no start message is disconnected', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { open } = await openShellApi(t)
  const { ws, client } = await open()
  t.mock.timers.tick(10_000)
  t.mock.timers.reset()
  assert.equal(await ws.closed(), 1008)
  assert.equal(ws.received[0].code, 'invalid_request')
  await eventually('its close', () => client.isClosed)
})
