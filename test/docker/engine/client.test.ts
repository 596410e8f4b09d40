import assert from 'node:assert/strict'
import { createServer, type RequestListener, type Server } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { inspect } from 'node:util'
import { acceptStatus, hasStatus, openEngine, orNull, toFailure } from '../../../src/docker/engine/client.ts'
import { streamLines } from '../../../src/docker/engine/stream-lines.ts'
import { openDockerSite } from '../../support/docker/docker-site.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

test('a refusal contains the message of the engine and nothing of the client', async (t) => {
  const { engine } = await openDockerSite(t)

  const requested = engine.call('inspect', () => engine.docker.getContainer('berth-test-nobody').inspect())

  await assert.rejects(requested, {
    code: 'docker_error',
    message: 'No such container: berth-test-nobody',
  })
})

test('an engine that does not respond is named by its address', async (t) => {
  const socket = join(temporaryDirectory(t), 'none.sock')
  await assert.rejects(openEngine(`unix://${socket}`).ping(), {
    code: 'docker_unavailable',
    message: `Docker did not respond at unix://${socket} (ping): ENOENT`,
  })
})

test('a refusal of limits ends with the cause, and names the container as users know it', () => {
  const id = '4f1c'.repeat(16)
  const output =
    `(HTTP code 500) server error - Cannot update container ${id}: runc did not terminate: ` +
    'cannot set memory limit (current usage: 9, peak usage: 90836992) : '

  const { code, message } = toFailure('limit', Object.assign(new Error(output), { statusCode: 500 }))

  assert.equal(code, 'docker_error')
  assert.match(message, /^Cannot update container 4f1c4f1c4f1c: runc .* peak usage: 90836992\)$/)
})

test('the reported connections are the same for one request and for many', async (t) => {
  const { engine } = await openDockerSite(t)
  const { agent } = engine.docker.modem as unknown as { agent: unknown }
  const before = inspect(agent, { showHidden: true, depth: null })

  const watches = Array.from({ length: 10 }, () => engine.call('watch', () => engine.docker.getEvents()))
  await Promise.all(watches)

  assert.equal(inspect(agent, { showHidden: true, depth: null }), before)
})

test('a call without a response ends at its timeout and releases its connection', async (t) => {
  const { host, server } = await fakeEngine(t, (_, response) => {
    response.on('close', () => server.emit('hung up'))
  })
  const hungUp = new Promise((resolve) => server.once('hung up', resolve))
  const engine = openEngine(host)
  t.after(() => engine.close())

  const requests = engine.call('list', (abortSignal) => engine.docker.listContainers({ abortSignal }), {
    timeoutMs: 500,
  })

  await assert.rejects(requests, {
    code: 'docker_unavailable',
    message: 'Docker did not respond within 0.5s',
  })
  await hungUp
})

test('an aborted call throws the reason of the abort', async (t) => {
  const { host } = await fakeEngine(t, () => {})
  const engine = openEngine(host)
  t.after(() => engine.close())
  const abort = new AbortController()

  const requests = engine.call('list', () => engine.docker.listContainers(), { signal: abort.signal })
  abort.abort(new Error('canceled by a test'))

  await assert.rejects(requests, /canceled by a test/)
})

test('an engine that closes the connection in the middle of a response is unavailable', async (t) => {
  const { host } = await fakeEngine(t, (_, response) => {
    response.writeHead(200, { 'Content-Length': 100 })
    response.write('{', () => response.destroy())
  })

  const engine = openEngine(host)
  const requested = engine.call('info', () => engine.docker.info(), { timeoutMs: 200 })

  await assert.rejects(requested, { code: 'docker_unavailable' })
})

test('the older API version is used, and negotiated again after an outage of the engine', async (t) => {
  const paths: string[] = []
  let version = '1.41'
  const { host } = await fakeEngine(t, ({ url = '' }, response) => {
    paths.push(url)
    if (url.endsWith('/_ping') && paths.length === 4) return void response.destroy()
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify({ ApiVersion: version }))
  })
  const engine = openEngine(host)

  await engine.ping()
  version = '1.99'
  await engine.ping()
  await assert.rejects(engine.ping(), { code: 'docker_unavailable' })
  await engine.ping()

  const [old, newest] = ['/v1.41/_ping', '/v1.47/_ping']
  assert.deepEqual(paths, ['/version', old, old, old, '/version', newest])
})

test('environment variables do not redirect to another engine', async (t) => {
  const { DOCKER_HOST } = process.env
  t.after(() => {
    if (DOCKER_HOST === undefined) delete process.env.DOCKER_HOST
    else process.env.DOCKER_HOST = DOCKER_HOST
  })
  const { host } = await fakeEngine(t, (_, response) => void response.end('{"ApiVersion":"1.41"}'))

  process.env.DOCKER_HOST = 'tcp://127.0.0.1:1'

  await openEngine(host).ping()
})

test('closing an engine ends the streams that are still open', async (t) => {
  const { engine } = await openDockerSite(t)
  const fork = engine.fork()
  const events = await fork.call('watch', () => fork.docker.getEvents())
  const ended = new Promise((resolve) => events.on('error', resolve).on('close', resolve))

  fork.close()

  await ended
  await engine.ping()
})

test('an address that is not an engine address is refused immediately', () => {
  for (const host of ['', 'docker', 'http://127.0.0.1:1', 'unix://', 'tcp://127.0.0.1']) {
    assert.throws(() => openEngine(host), { code: 'invalid_request' }, host)
  }
})

test('an action that is already in effect succeeds, and a missing object yields null', async (t) => {
  const { engine } = await openDockerSite(t)
  const missing = () => engine.call('inspect', () => engine.docker.getVolume('berth-test-none').inspect())

  await acceptStatus(404, missing())

  assert.equal(await orNull(missing()), null)
  assert.equal(await missing().catch((error) => hasStatus(error, 404)), true)
  await assert.rejects(acceptStatus(304, missing()), { code: 'docker_error' })
})

async function fakeEngine(
  t: TestContext,
  response: RequestListener,
): Promise<{ host: string; server: Server }> {
  const path = join(temporaryDirectory(t), 'docker.sock')
  const server = createServer(response)
  await new Promise<void>((resolve) => server.listen(path, resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { host: `unix://${path}`, server }
}

test('lines are complete in whatever chunks they arrive, without empty ones in between', async () => {
  const bytes = Buffer.from('{"a":"grüße"}\r\n\n{"b":2}\n{"c":3}')

  for (let size = 1; size <= bytes.length; size++) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    )
    const lines: unknown[] = []
    for await (const line of streamLines(Readable.from(chunks))) lines.push(JSON.parse(line))
    assert.deepEqual(lines, [{ a: 'grüße' }, { b: 2 }, { c: 3 }], `chunks of ${size}`)
  }
})
