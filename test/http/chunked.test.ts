// Chunked bodies over real sockets. The library of the server does not parse trailers: it takes what follows
// the last chunk for another request. None of that may run, or get a response.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openApi } from '../../src/http/pipeline/api.ts'
import { type Call, Raw, route, type Upload } from '../../src/http/pipeline/route.ts'
import { createContext, head, raw } from '../support/http/http-context.ts'
import { eventually, silentLogger, temporaryStorage } from '../support/supervisor/supervision.ts'

/** What follows the last chunk, by what it is; `0` and the end of its line are before it. */
const endings: Record<string, string> = {
  'a trailer': '0\r\nX-Trailer: a\r\n\r\n',
  'a trailer that is a request after two bytes': '0\r\nxxget: /other HTTP/1.1\r\nhost: localhost\r\n\r\n',
  'a whole request after two bytes': '0\r\naaGET /other HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'a trailer that is a request with a body':
    '0\r\nxxpost: /other HTTP/1.1\r\nhost: localhost\r\ncontent-length: 50000\r\n\r\n',
  'a content-length': '0\r\ncontent-length: 50000\r\n\r\n',
  'a transfer-encoding': '0\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
  'a pipelined request': `0\r\n\r\n${head('GET /other', 'Host: localhost')}`,
  'ten pipelined requests': `0\r\n\r\n${head('GET /other', 'Host: localhost').repeat(10)}`,
  'a bare line feed': `0\n\n${head('GET /other', 'Host: localhost')}`,
  'a bare line feed before a request': `0\n\n${head('xGET /other', 'Host: localhost')}`,
  'an extension': `0;a="b"\r\n\r\n${head('GET /other', 'Host: localhost')}`,
  'a size with spaces': `0  \r\n\r\n${head('GET /other', 'Host: localhost')}`,
  'a size with zeros': `0000\r\n\r\n${head('GET /other', 'Host: localhost')}`,
  'a negative size': `-0\r\n\r\n${head('GET /other', 'Host: localhost')}`,
  'a size that is none': `zz\r\n\r\n${head('GET /other', 'Host: localhost')}`,
}

/** Requests with a chunked body, by what becomes of them. */
const beginnings: Record<string, string> = {
  'to an upload': head('POST /take', 'Host: localhost', 'Transfer-Encoding: chunked'),
  'to an upload that takes its time': head('POST /slow', 'Host: localhost', 'Transfer-Encoding: chunked'),
  'to a route without a body': head('GET /other', 'Host: localhost', 'Transfer-Encoding: chunked'),
  'to a route with a body': head('POST /json', 'Host: localhost', 'Transfer-Encoding: chunked'),
  'to nothing': head('GET /nothing', 'Host: localhost', 'Transfer-Encoding: chunked'),
  'with a head that is refused': head('POST /take', 'Transfer-Encoding: chunked'),
  'with two encodings': head('POST /take', 'Host: localhost', 'Transfer-Encoding: gzip, chunked'),
}

/** A server that notes which handlers ran. */
async function start(t: TestContext) {
  const ran: string[] = []
  const common = { credential: 'public', acceptsIdempotencyKey: false, summary: 'Notes that it ran' } as const
  const upload = { mediaTypes: ['application/gzip'], limitBytes: 1024 * 1024, description: 'Anything' }
  const taking = (path: string, ms: number) =>
    route({
      ...common,
      method: 'POST',
      path,
      upload,
      async handler({ body }: Call<unknown, unknown, Upload>) {
        ran.push(path)
        const size = await body.receive({ open: async () => {}, write: async () => {} })
        await sleep(ms)
        return new Raw(200, 'text/plain', `took ${size}`)
      },
    })
  const noting = (method: 'GET' | 'POST', path: string) =>
    route({
      ...common,
      method,
      path,
      handler() {
        ran.push(path)
        return new Raw(200, 'text/plain', 'noted')
      },
    })
  const table = [taking('/take', 0), taking('/slow', 100), noting('GET', '/other'), noting('POST', '/json')]
  const context = createContext(await temporaryStorage(t))
  const server = await openApi(context, { host: '127.0.0.1', port: 0, logger: silentLogger, table })
  t.after(() => server.stop(0))
  return { port: server.port, ran }
}

/** All that comes until the server closes the connection; the parts are sent with a pause between. */
function exchange(port: number, parts: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let received = ''
    socket.on('data', (chunk) => (received += chunk))
    socket.once('error', () => resolve(received))
    socket.once('close', () => resolve(received))
    socket.setTimeout(60_000, () => reject(new Error(`the connection stays open after ${parts.join('')}`)))
    const send = async () => {
      for (const part of parts) {
        socket.write(part)
        await sleep(20)
      }
    }
    send().catch(reject)
  })
}

const responsesIn = (text: string) => text.match(/HTTP\/1\.1 \d{3}/g) ?? []

test('nothing after a chunked body runs or gets a response, however it is sent', async (t) => {
  const { port, ran } = await start(t)
  const cases = Object.entries(beginnings).flatMap(([to, beginning]) =>
    Object.entries(endings).flatMap(([what, ending]) =>
      [[`${beginning}${ending}`], [beginning, ending], [`${beginning}2\r\n{}\r\n${ending}`]].map((parts) => ({
        name: `${what}, ${to}, in ${parts.length}`,
        parts,
      })),
    ),
  )

  const received = await Promise.all(cases.map(({ parts }) => exchange(port, parts)))

  for (const [at, { name }] of cases.entries()) {
    const responses = responsesIn(received[at]!)
    assert.ok(responses.length <= 1, `${name}: ${received[at]}`)
    assert.doesNotMatch(received[at]!, /noted/, name)
  }
  assert.deepEqual(new Set(ran), new Set(['/take', '/slow']))
  const uploads = cases.filter(({ name }) => name.includes('to an upload')).length
  assert.ok(ran.length <= uploads, `${ran.length} handlers ran for ${uploads} uploads`)
})

test('a later request on the connection of a chunked one is never served', async (t) => {
  const { port, ran } = await start(t)
  const second = head('GET /other', 'Host: localhost')

  for (const pauseMs of [0, 1, 5, 50, 150, 300]) {
    const received = await new Promise<string>((resolve) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      let text = ''
      socket.on('data', (chunk) => (text += chunk)).once('error', () => {})
      socket.once('close', () => resolve(text))
      socket.write(`${beginnings['to an upload that takes its time']}1\r\na\r\n0\r\n\r\n`)
      setTimeout(() => socket.write(second), pauseMs)
    })
    assert.ok(responsesIn(received).length <= 1, `after ${pauseMs} ms: ${received}`)
  }
  assert.ok(!ran.includes('/other'))
})

test('the response to a chunked upload has Connection: close, and the connection closes', async (t) => {
  const { port } = await start(t)
  const { text, isClosed } = await raw(port, `${beginnings['to an upload']}3\r\nabc\r\n0\r\n\r\n`)
  assert.match(text, /^HTTP\/1\.1 200 .*connection: close.*took 3$/is)
  assert.ok(isClosed)
})

test('a chunked body on any route but uploads is 411, with any credential', async (t) => {
  const { port, ran } = await start(t)
  for (const [to, beginning] of Object.entries(beginnings)) {
    if (!/route|nothing/.test(to)) continue
    const { text, isClosed } = await raw(port, `${beginning}2\r\n{}\r\n0\r\n\r\n`)
    assert.match(text, /^HTTP\/1\.1 411 .*connection: close.*"code":"length_required"/is, to)
    assert.ok(isClosed, to)
  }
  assert.deepEqual(ran, [])
})

test('a rejected body is discarded until its client waits', async (t) => {
  const { port } = await start(t)
  const refused = beginnings['to a route with a body']!
  const waiting = await raw(port, refused)
  assert.match(waiting.text, /^HTTP\/1\.1 411 /)
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.on('data', (chunk) => (text += chunk)).once('error', () => {})
  socket.write(refused)
  const sending = setInterval(() => socket.write('1\r\na\r\n'), 20)
  t.after(() => clearInterval(sending))
  await sleep(200)
  assert.equal(text, '')
  clearInterval(sending)
  await eventually('the refusal', () => /^HTTP\/1\.1 411 /.test(text))
  socket.destroy()
})
