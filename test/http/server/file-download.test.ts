// Downloads over real sockets: complete for slow readers, aborted when the credential ends, and never
// truncated without an error.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, truncateSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openApi } from '../../../src/http/pipeline/api.ts'
import { Download, route } from '../../../src/http/pipeline/route.ts'
import { createContext, head, raw, token } from '../../support/http/http-context.ts'
import { eventually, recordErrors, temporaryStorage } from '../../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const mebibyte = 1024 * 1024

/** A server that hands out one file, when the test lets it. */
async function start(t: TestContext, sizeMb: number) {
  const path = join(temporaryDirectory(t), 'large')
  const content = randomBytes(sizeMb * mebibyte)
  writeFileSync(path, content)
  const storage = await temporaryStorage(t)
  const { errors, logger } = recordErrors()
  const gate = { isClosed: false, open: () => {}, begun: 0 }
  const large = route({
    method: 'GET',
    path: '/api/v1/large',
    summary: 'A file',
    response: 'bytes',
    async handler() {
      gate.begun++
      if (gate.isClosed) await new Promise<void>((resolve) => Object.assign(gate, { open: resolve }))
      return new Download(path, content.length, 'large', createReadStream(path))
    },
  })
  const context = createContext(storage)
  const server = await openApi(context, { host: '127.0.0.1', port: 0, logger, table: [large] })
  t.after(() => server.stop(0))
  const request = (secret = token) =>
    head('GET /api/v1/large', 'Host: localhost', `Authorization: Bearer ${secret}`)
  /** One that asks and reads nothing yet. */
  const ask = (secret?: string): Socket => {
    const socket = connect(server.port, '127.0.0.1').on('error', () => {})
    socket.pause().write(request(secret))
    t.after(() => socket.destroy())
    return socket
  }
  const answers = async () => {
    const { text } = await raw(
      server.port,
      head('OPTIONS /api/v1/large', 'Host: localhost', `Authorization: Bearer ${token}`),
    )
    return text.slice(9, 12)
  }
  return { server, storage, path, content, gate, errors, ask, answers }
}

/** The bytes of the body until all of them came, or the connection ended; `pauseMs` after each piece. */
async function readBody(socket: Socket, sizeBytes: number, pauseMs = 0): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (pauseMs > 0) await delay(pauseMs)
    const [first] = chunks
    if (bytes >= sizeBytes + first!.indexOf('\r\n\r\n') + 4) break
  }
  const all = Buffer.concat(chunks)
  return all.subarray(all.indexOf('\r\n\r\n') + 4)
}

const hashOf = (content: Uint8Array) => createHash('sha256').update(content).digest('hex')

test('a slow reader gets the whole file in order, and the server does not buffer it', async (t) => {
  const { content, ask, gate } = await start(t, 96)
  const before = process.memoryUsage().rss
  const socket = ask()
  await eventually('it to start', () => gate.begun === 1)
  // The client does not read, so by now the server has buffered all that it will.
  let grownBytes = 0
  for (let look = 0; look < 40; look++) {
    await delay(25)
    grownBytes = Math.max(grownBytes, process.memoryUsage().rss - before)
  }
  const body = await readBody(socket, content.length)

  assert.equal(hashOf(body), hashOf(content))
  assert.ok(grownBytes < content.length / 2, `${grownBytes} bytes for a body of ${content.length}`)
})

test('a client that disconnects midway is dropped, and a stop does not wait for it', async (t) => {
  const { server, ask, answers } = await start(t, 32)
  const socket = ask()
  socket.resume()
  await once(socket, 'data')

  socket.destroy()

  assert.equal(await answers(), '204')
  const stoppedAt = performance.now()
  await server.stop(600_000)
  assert.ok(performance.now() - stoppedAt < 300_000)
})

test('a file truncated during the download ends the connection before the announced length', async (t) => {
  const { path, content, ask, answers } = await start(t, 64)
  const socket = ask()
  socket.resume()
  await once(socket, 'data')
  socket.pause()

  truncateSync(path, 40 * mebibyte)

  const body = await readBody(socket, content.length)
  assert.ok(body.length < content.length, `${body.length} bytes`)
  assert.equal(await answers(), '204')
})

test('revoking a token ends the download it started', async (t) => {
  const { storage, content, ask } = await start(t, 64)
  const row = {
    id: 'tok-1',
    name: 'ci',
    role: 'admin',
    services: null,
    created_at: '2026-01-01T00:00:00.000Z',
    expires_at: null,
    last_used_at: null,
  }
  const secret = `bth_${'x'.repeat(40)}`
  await storage.commit((commit) => storage.tokens.insert(commit, secret, row as never))
  const socket = ask(secret)
  socket.resume()
  const [first] = (await once(socket, 'data')) as [Buffer]
  assert.match(first.toString('latin1'), /^HTTP\/1\.1 200 /)
  socket.pause()

  await storage.tokens.remove('tok-1')

  // All of it would take longer than it takes to look.
  assert.ok((await readBody(socket, content.length, 20)).length < content.length)
})
