// Following event streams across lost connections, against a small server that breaks off on demand.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createClient } from '../../../src/cli/client/client.ts'
import { type FollowOptions, followEvents } from '../../../src/cli/client/event-stream.ts'
import type { Cli } from '../../../src/cli/client/session.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

test('a log that breaks off is resumed after its last line, without gap or repetition', async (t) => {
  const requests: (string | undefined)[] = []
  const { lines, said } = await follow(t, (request, response) => {
    const after = Number(request.headers['last-event-id'] ?? 0)
    requests.push(request.headers['last-event-id'] as string | undefined)
    const until = Math.min(after + 3, 8)
    for (let id = after + 1; id <= until; id++) send(response, 'log', `line ${id}`, id)
    // In the middle of an event: what was not whole comes again.
    if (until < 8) response.write(`id: ${until + 1}\nevent: log\nda`, () => response.destroy())
    else end(response)
  })

  assert.deepEqual(
    lines,
    Array.from({ length: 8 }, (_, index) => `line ${index + 1}`),
  )
  assert.deepEqual(requests, [undefined, '3', '6'])
  assert.deepEqual(said, [
    ' ! connection lost, retrying for 10m',
    ' ! connected again',
    ' ! connection lost, retrying for 10m',
    ' ! connected again',
  ])
})

test('a followed stream that closes without an end event is lost, and reopened', async (t) => {
  let requested = 0
  const { lines } = await follow(t, (_, response) => {
    requested += 1
    if (requested === 1) return void response.end('id: 1\nevent: log\ndata: one\n\n')
    send(response, 'log', 'two', 2)
    end(response)
  })

  assert.deepEqual(lines, ['one', 'two'])
})

test('a stream of existing data ends where the connection closes', async (t) => {
  let requested = 0
  const answer: Answer = (_, response) => {
    requested += 1
    response.end('id: 1\nevent: log\ndata: one\n\n')
  }
  const { lines, said } = await follow(t, answer, { existingOnly: true })

  assert.deepEqual([lines, said, requested], [['one'], [], 1])
})

test('a server that fails for a while is retried, and reported as unavailable once', async (t) => {
  let requested = 0
  const { lines, said } = await follow(t, (_, response) => {
    requested += 1
    if (requested === 1) return breakOff(response)
    if (requested < 4) return void response.writeHead(503).end('no')
    send(response, 'log', 'two', 2)
    end(response)
  })

  assert.deepEqual(lines, ['one', 'two'])
  assert.deepEqual(said, [' ! connection lost, retrying for 10m', ' ! connected again'])
})

for (const [status, exitCode] of [
  [401, 4],
  [403, 4],
  [404, 3],
] as const) {
  test(`a stream that gets ${status} after a loss is abandoned with exit code ${exitCode}`, async (t) => {
    let requested = 0
    const following = follow(t, (_, response) => {
      requested += 1
      if (requested > 1)
        return void response.writeHead(status).end(JSON.stringify({ code: 'no', detail: 'no' }))
      breakOff(response)
    })

    await assert.rejects(following, { name: 'CliFailure', exitCode })
    assert.equal(requested, 2)
  })
}

test('a server that was never reached is not retried', async (t) => {
  const cli = openCli(t, 'http://127.0.0.1:9')

  await assert.rejects(collect(followEvents(cli, '/lines')), { name: 'CliFailure', exitCode: 5 })
  assert.deepEqual(cli.said, [])
})

test('a signal ends following silently', async (t) => {
  const controller = new AbortController()
  const { lines, said } = await follow(
    t,
    (_, response) => {
      send(response, 'log', 'one', 1)
      setImmediate(() => controller.abort())
    },
    { signal: controller.signal },
  )

  assert.ok(lines.length <= 1)
  assert.deepEqual(said, [])
})

async function follow(t: TestContext, answer: Answer, options: FollowOptions = {}) {
  const server = createServer((request, response) => {
    response.on('error', () => {})
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const cli = openCli(t, `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  return { lines: await collect(followEvents(cli, '/lines', options)), said: cli.said }
}

/** As much of a session as following needs; what is said is kept. */
function openCli(t: TestContext, url: string): Cli & { said: string[] } {
  const controller = new AbortController()
  t.after(() => controller.abort())
  const said: string[] = []
  const out = { say: (line: string) => void said.push(line), tint: (_: unknown, text: string) => text }
  const client = createClient({ url, token: undefined, signal: controller.signal })
  return { client, out, signal: controller.signal, said } as unknown as Cli & { said: string[] }
}

async function collect(events: AsyncGenerator<{ data: string }>): Promise<string[]> {
  const lines: string[] = []
  for await (const { data } of events) lines.push(data)
  return lines
}

function send(response: ServerResponse, event: string, data: string, id?: number): void {
  response.write(`${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`)
}

/** After one line. */
function breakOff(response: ServerResponse): void {
  send(response, 'log', 'one', 1)
  response.write(':\n\n', () => response.destroy())
}

function end(response: ServerResponse): void {
  response.end('event: end\ndata: \n\n')
}
