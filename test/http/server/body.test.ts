// Bodies over real sockets: too large for memory, faster than the sink, or incomplete.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf, Failure } from '../../../src/errors.ts'
import { openApi } from '../../../src/http/pipeline/api.ts'
import { type Call, Raw, route, type Upload } from '../../../src/http/pipeline/route.ts'
import type { Sink } from '../../../src/http/server/body.ts'
import { createContext, head, raw } from '../../support/http/http-context.ts'
import { eventually, silentLogger, temporaryStorage } from '../../support/supervisor/supervision.ts'
import { long } from '../../support/system/drill-size.ts'

const mebibyte = 1024 * 1024
const limitBytes = 64 * mebibyte

/** A sink that stores its input. Every write waits for the gate. */
function keepingSink(gate: Promise<unknown> = Promise.resolve()) {
  const seen = { pieces: [] as Uint8Array[], writes: 0, atWork: 0, largestBytes: 0, outcome: null as unknown }
  const sink: Sink = {
    open: async () => {},
    async write(piece) {
      seen.atWork += 1
      seen.writes += 1
      assert.equal(seen.atWork, 1, 'one write at a time')
      seen.largestBytes = Math.max(seen.largestBytes, piece.length)
      await gate
      seen.pieces.push(piece)
      seen.atWork -= 1
    },
  }
  return { sink, seen, body: () => Buffer.concat(seen.pieces) }
}

/** A sink whose first write blocks until it is released or rejected. */
function pausedSink() {
  const gate = new EventEmitter()
  const release = () => gate.emit('open')
  const fail = (error: Failure) => gate.emit('error', error)
  return { ...keepingSink(once(gate, 'open')), release, fail }
}

/** A server whose one route takes an upload into the sink, and answers its size. */
async function start(
  t: TestContext,
  sink: Sink,
  seen: { outcome: unknown } = { outcome: null },
  answer: () => Promise<void> = async () => undefined,
) {
  const taking = route({
    method: 'POST',
    path: '/take',
    credential: 'public',
    summary: 'Takes',
    upload: { mediaTypes: ['application/gzip'], limitBytes, description: 'Anything' },
    async handler({ body }: Call<unknown, unknown, Upload>) {
      const receiving = body.receive(sink)
      seen.outcome = await receiving.catch(codeOf)
      await answer()
      return new Raw(200, 'text/plain', String(await receiving))
    },
  })
  const context = createContext(await temporaryStorage(t))
  const server = await openApi(context, { host: '127.0.0.1', port: 0, logger: silentLogger, table: [taking] })
  t.after(() => server.stop(0))
  return { server, port: server.port, url: `http://127.0.0.1:${server.port}/take` }
}

const chunk = (data: Buffer) =>
  Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from('\r\n')])

/** A client that has sent the head of a body in chunks. */
function beginChunks(t: TestContext, port: number): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  t.after(() => socket.destroy())
  socket.write(head('POST /take', 'Host: localhost', 'Transfer-Encoding: chunked'))
  return socket
}

/** The number of bytes sent once the client is blocked. */
async function sentAtRest(socket: Socket): Promise<number> {
  const sent = () => socket.bytesWritten - socket.writableLength
  for (let before = -1; before !== sent(); await sleep(300)) before = sent()
  return sent()
}

test('a body arrives complete and in order, with a length or in chunks', async (t) => {
  const body = randomBytes(20 * mebibyte)
  for (const sent of [body, Readable.from([body.subarray(0, 1), body.subarray(1)])]) {
    const kept = keepingSink()
    const { url } = await start(t, kept.sink)

    const response = await fetch(url, { method: 'POST', body: sent, duplex: 'half' })

    assert.deepEqual([response.status, await response.text()], [200, String(body.length)])
    assert.ok(kept.body().equals(body))
  }
})

test('a slow sink throttles its client, and still gets the complete body', async (t) => {
  const { sink, seen, release, body } = pausedSink()
  const { port } = await start(t, sink, seen)
  const sent = randomBytes(60 * mebibyte)
  const socket = beginChunks(t, port)

  for (let at = 0; at < sent.length; at += mebibyte) socket.write(chunk(sent.subarray(at, at + mebibyte)))
  socket.write('0\r\n\r\n')
  await eventually('the sink has something', () => seen.writes === 1)
  const takenBytes = await sentAtRest(socket)
  release()

  assert.ok(takenBytes < 40 * mebibyte, `${takenBytes} bytes were read from the client`)
  assert.equal(await eventually('the end', () => seen.outcome), sent.length)
  assert.ok(body().equals(sent))
  assert.ok(seen.largestBytes < 16 * mebibyte, `${seen.largestBytes} bytes were held`)
})

test('a body sent byte by byte arrives complete', async (t) => {
  const { sink, seen, body } = keepingSink()
  const { port } = await start(t, sink, seen)
  const sent = randomBytes(100_000).toString('latin1')
  const socket = beginChunks(t, port)

  socket.write(Buffer.from([...sent].map((byte) => `1\r\n${byte}\r\n`).join(''), 'latin1'))
  socket.write('0\r\n\r\n')

  assert.equal(await eventually('the end', () => seen.outcome), sent.length)
  assert.equal(body().toString('latin1'), sent)
})

test('a client that disconnects midway ends the transfer, but not while the sink writes', async (t) => {
  const { sink, seen, release } = pausedSink()
  const { port } = await start(t, sink, seen)
  const socket = beginChunks(t, port)
  socket.write(chunk(Buffer.from('half')))
  await eventually('the sink has something', () => seen.writes === 1)

  socket.destroy()
  assert.match((await raw(port, head('OPTIONS /take', 'Host: localhost'))).text, /^HTTP\/1\.1 204 /)
  assert.equal(seen.outcome, null)
  release()

  assert.equal(await eventually('the end', () => seen.outcome), 'client_left')
})

long('a client may pause for most of a minute, and is cut after that', async (t) => {
  const { sink, seen } = keepingSink()
  const { port } = await start(t, sink, seen)
  const outcome = () => eventually('the end', () => seen.outcome)
  for (const pauseMs of [16_000, 40_000]) {
    seen.outcome = null
    const socket = beginChunks(t, port)
    socket.write(chunk(Buffer.from('half')))
    await sleep(pauseMs)
    socket.write(chunk(Buffer.from('rest')))
    socket.write('0\r\n\r\n')
    assert.equal(await outcome(), 8)
  }
  seen.outcome = null
  const silent = beginChunks(t, port)
  silent.write(chunk(Buffer.from('half')))
  await once(silent, 'close')
  assert.equal(await outcome(), 'client_left')
})

test('a complete body whose use takes long is answered', async (t) => {
  const { sink } = keepingSink(sleep(6_000))
  const { url } = await start(t, sink, undefined, () => sleep(16_000))
  const response = await fetch(url, {
    method: 'POST',
    body: 'all',
    headers: { 'content-type': 'application/gzip' },
  })
  assert.equal(await response.text(), '3')
})

test('a body over the limit is rejected by its length, or counted without one', async (t) => {
  const { sink, seen } = keepingSink()
  const { port } = await start(t, sink)

  const announced = await raw(
    port,
    head('POST /take', 'Host: localhost', `Content-Length: ${limitBytes + 1}`),
  )
  assert.equal(seen.writes, 0)
  const socket = beginChunks(t, port)
  const answered = once(socket, 'data')
  for (let times = 0; times < 65; times++) socket.write(chunk(Buffer.alloc(mebibyte)))
  const [counted] = await answered

  assert.match(announced.text, /^HTTP\/1\.1 413 .*payload_too_large/s)
  assert.equal(announced.isClosed, false, 'or who still sends would not see the answer')
  assert.match(String(counted), /^HTTP\/1\.1 413 .*payload_too_large/s)
})

test('a client that still sends when it is rejected gets the response', async (t) => {
  const failing = {
    open: async () => {},
    write: () => Promise.reject(new Failure('invalid_request', 'not this')),
  }
  const full = { ...failing, open: () => Promise.reject(new Failure('insufficient_storage', 'full')) }
  const body = Buffer.alloc(30 * mebibyte)
  for (const [sink, status] of [
    [failing, 400],
    [full, 507],
  ] as const) {
    const { url } = await start(t, sink)
    for (let times = 0; times < 5; times++) {
      assert.equal((await fetch(url, { method: 'POST', body })).status, status)
      assert.equal(await postPiped(url, body), status)
      assert.equal((await fetch(`${url}/nothing`, { method: 'POST', body })).status, 404)
      assert.equal(await postPiped(`${url}/nothing`, body), 411)
    }
  }
})

/** By node's own client, from a stream. */
function postPiped(url: string, body: Buffer): Promise<number> {
  const parts = Array.from({ length: body.length / mebibyte }, (_, at) =>
    body.subarray(at * mebibyte, (at + 1) * mebibyte),
  )
  return new Promise((resolve, reject) => {
    const requested = request(url, { method: 'POST', agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode!))
    })
    Readable.from(parts).pipe(requested.on('error', reject))
  })
}

test('a server that stops ends open uploads, and the sink is not used again', async (t) => {
  const { sink, seen } = keepingSink()
  const { server, port } = await start(t, sink, seen)
  beginChunks(t, port).write(chunk(Buffer.from('half')))
  await eventually('the sink has something', () => seen.writes === 1)

  await server.stop(50)

  assert.equal(await eventually('the end', () => seen.outcome), 'client_left')
  assert.equal(seen.atWork, 0)
})
