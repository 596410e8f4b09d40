// The log of a deploy as an event stream, over real logs and real sockets.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openStream } from '../../support/http/event-stream.ts'
import { startApi, token } from '../../support/http/http-context.ts'
import { eventually } from '../../support/supervisor/supervision.ts'

const ts = '2026-01-01T00:00:00.000Z'

async function startDeploy(t: TestContext) {
  const api = await startApi(t)
  const response = await api.call('POST', '/api/v1/services', {
    body: { name: 'web', repo_url: 'https://git.test/a/b' },
  })
  const { id } = response.body.latest_deploy as { id: string }
  const { logs } = api.storage
  const path = `${api.url}/api/v1/deploys/${id}/logs`
  return { ...api, id, logs, path, write: (line: string) => logs.append(id, 'stdout', line, ts) }
}

function logged(number: number, line: string) {
  return { id: String(number), event: 'log', data: JSON.stringify({ ts, stream: 'stdout', line }) }
}

const ended = { id: null, event: 'end', data: '' }

test('a finished log is sent completely, line by line, and ends with end', async (t) => {
  const { write, logs, id, path } = await startDeploy(t)
  for (const line of ['one', 'two\r', 'data: three']) write(line)
  await logs.end(id)

  const stream = await openStream(t, path)

  const { headers } = stream.response
  assert.equal(headers.get('content-type'), 'text/event-stream')
  assert.match(headers.get('cache-control')!, /no-cache/)
  assert.equal(headers.get('x-accel-buffering'), 'no')
  const lines = ['one', 'two\r', 'data: three'].map((line, index) => logged(index + 1, line))
  assert.deepEqual(await stream.rest(), [...lines, ended])
})

test('the stored log of an unfinished deploy closes without end', async (t) => {
  const { write, logs, path } = await startDeploy(t)
  write('one')
  await logs.flush()

  const stream = await openStream(t, path)

  assert.deepEqual(await stream.rest(), [logged(1, 'one')])
})

test('a follower receives existing lines, new lines, and the end', async (t) => {
  const { write, logs, id, path } = await startDeploy(t)
  write('before')
  await logs.flush()

  const stream = await openStream(t, `${path}?follow=true`)
  assert.deepEqual(await stream.next(), logged(1, 'before'))
  write('after')
  assert.deepEqual(await stream.next(), logged(2, 'after'))
  await logs.end(id)

  assert.deepEqual(await stream.rest(), [ended])
})

test('a follower of an empty log waits for the first line', async (t) => {
  const { write, path } = await startDeploy(t)

  const stream = await openStream(t, `${path}?follow`)
  write('first')

  assert.deepEqual(await stream.next(), logged(1, 'first'))
})

test('Last-Event-ID resumes after that line, and an id from the future is lowered', async (t) => {
  const { write, logs, id, path } = await startDeploy(t)
  for (const line of ['one', 'two', 'three']) write(line)
  await logs.flush()

  const second = await openStream(t, path, { 'last-event-id': '2' })
  assert.deepEqual(await second.rest(), [logged(3, 'three')])

  const beyond = await openStream(t, `${path}?follow=true`, { 'last-event-id': '9999' })
  write('four')
  assert.deepEqual(await beyond.next(), logged(4, 'four'))
  await logs.end(id)
  assert.deepEqual(await beyond.rest(), [ended])
})

test('a part of a log begins at a line or near its end, and has no end unless nothing follows', async (t) => {
  const { write, logs, id, path } = await startDeploy(t)
  for (const line of ['one', 'two', 'three', 'four']) write(line)
  await logs.end(id)
  const linesOf = async (query: string, headers = {}) => {
    const stream = await openStream(t, `${path}?${query}`, headers)
    return (await stream.rest()).map(({ id: number, event }) => number ?? event)
  }

  assert.deepEqual(await linesOf('from=3'), ['3', '4', 'end'])
  assert.deepEqual(await linesOf('from=2&limit=2'), ['2', '3'])
  assert.deepEqual(await linesOf('from=3&limit=2&follow'), ['3', '4', 'end'])
  assert.deepEqual(await linesOf('tail=1'), ['4', 'end'])
  assert.deepEqual(await linesOf('tail=0'), ['end'])
  assert.deepEqual(await linesOf('tail=99&limit=1'), ['1'])
  assert.deepEqual(await linesOf('from=99'), ['end'])
  assert.deepEqual(await linesOf('from=1', { 'last-event-id': '3' }), ['4', 'end'])
  assert.equal((await openStream(t, `${path}?limit=0`)).response.status, 400)
})

test('a follower with a limit ends with its last line, before the log does', async (t) => {
  const { write, path } = await startDeploy(t)
  const stream = await openStream(t, `${path}?follow&limit=2`)

  for (const line of ['one', 'two', 'three']) write(line)

  assert.deepEqual(await stream.rest(), [logged(1, 'one'), logged(2, 'two')])
})

test('as plain text a log is a file of its lines, complete for a slow reader too', async (t) => {
  const { write, logs, id, path } = await startDeploy(t)
  const lines = Array.from({ length: 3000 }, (_, index) => `${index} ${'x'.repeat(5000)}`)
  for (const [index, line] of lines.entries()) {
    write(line)
    if (index % 100 === 0) await logs.flush()
  }
  await logs.flush()
  const headers = { authorization: `Bearer ${token}`, accept: 'text/plain' }

  const response = await fetch(path, { headers })
  // Longer than its socket buffers everything that arrives.
  await delay(1000)
  const text = await response.text()

  assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8')
  assert.equal(response.headers.get('content-disposition'), `attachment; filename="${id}.log"`)
  assert.equal(text, lines.map((line) => `${ts} ${line}\n`).join(''))
  const last = await fetch(`${path}?tail=1`, { headers })
  assert.equal(await last.text(), `${ts} ${lines.at(-1)}\n`)
})

test('a paused reader costs no memory, and gets everything when it reads again', async (t) => {
  const { write, logs, id, server, path } = await startDeploy(t)
  const socket = connect(server.port, '127.0.0.1')
  t.after(() => socket.destroy())
  socket.pause()
  const { pathname } = new URL(path)
  socket.write(
    `GET ${pathname}?follow=true HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  )
  const before = process.memoryUsage().rss
  for (let index = 1; index <= 3000; index++) {
    write(`${index} ${'x'.repeat(10_000)}`)
    if (index % 100 === 0) await logs.flush()
  }
  await logs.end(id)
  const grown = process.memoryUsage().rss - before
  assert.ok(grown < 150 * 1024 * 1024, `grew by ${Math.round(grown / 1024 / 1024)} MiB`)

  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1').replace(/x{100,}/g, '')
  })
  socket.resume()
  await eventually('the end arrived', () => text.includes('event: end'))
  const numbers = [...text.matchAll(/id: (\d+)\n/g)].map(([, number]) => Number(number))
  assert.deepEqual(
    numbers,
    Array.from({ length: 3000 }, (_, index) => index + 1),
  )
})

test('a followed stream closes without end when the server stops', async (t) => {
  const { write, server, path } = await startDeploy(t)
  const stream = await openStream(t, `${path}?follow=true`)
  write('one')
  assert.deepEqual(await stream.next(), logged(1, 'one'))

  await server.stop(1000)

  assert.deepEqual(await stream.rest(), [])
})
