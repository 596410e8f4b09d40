// The change feed and the runtime log as event streams, over a real store and real sockets.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { Failure } from '../../src/errors.ts'
import type { RuntimeLine } from '../../src/http/context.ts'
import { openStream } from '../support/event-stream.ts'
import { type Api, startApi } from '../support/http-context.ts'
import { eventually } from '../support/supervised.ts'

const ts = '2026-01-01T00:00:00.000Z'
const ended = { id: null, event: 'end', data: '' }

const change = (api: Api, name: string) => api.call('POST', '/api/v1/services', { body: { name } })

test('the change feed says ready, then what every commit changed, and holds nothing else', async (t) => {
  const api = await startApi(t)
  const stream = await openStream(t, `${api.url}/api/v1/events`)
  const head = api.storage.changes.head()

  assert.deepEqual(await stream.next(), { id: String(head), event: 'ready', data: '{}' })
  const { body } = await change(api, 'web')
  const { id, event, data } = (await stream.next())!

  assert.deepEqual([id, event], [String(head + 1), 'change'])
  const { id: serviceId } = body
  assert.deepEqual(JSON.parse(data), {
    kind: 'service',
    id: serviceId,
    service_id: serviceId,
    status: 'not_deployed',
    revision: 1,
  })
})

test('the change feed resumes after Last-Event-ID, and resets when that is unknown', async (t) => {
  const api = await startApi(t)
  const start = api.storage.changes.head()
  for (const name of ['a', 'b', 'c']) await change(api, name)

  const resumed = await openStream(t, `${api.url}/api/v1/events`, { 'last-event-id': String(start + 1) })
  const events = [await resumed.next(), await resumed.next(), await resumed.next()]
  assert.deepEqual(
    events.map((event) => [event?.event, event?.id]),
    [
      ['ready', String(start + 1)],
      ['change', String(start + 2)],
      ['change', String(start + 3)],
    ],
  )

  const lost = await openStream(t, `${api.url}/api/v1/events`, { 'last-event-id': '99999' })
  await lost.next()
  assert.deepEqual(await lost.next(), { id: String(start + 3), event: 'reset', data: '{}' })
  await change(api, 'd')
  assert.equal((await lost.next())?.id, String(start + 4))
})

const line = (text: string): RuntimeLine => ({ ts, stream: 'stderr', line: text, instance: '0' })

async function startRuntime(t: TestContext, runtimeLog: Api['context']['observe']['runtimeLog']) {
  const api = await startApi(t)
  api.context.observe = { ...api.context.observe, runtimeLog }
  await change(api, 'web')
  return { ...api, path: `${api.url}/api/v1/services/web/logs` }
}

test('a runtime log names the instance of each line and ends, unless it follows', async (t) => {
  const { path } = await startRuntime(t, async function* () {
    yield line('one')
  })
  const one = { id: null, event: 'log', data: JSON.stringify(line('one')) }

  assert.deepEqual(await (await openStream(t, `${path}?tail=5`)).rest(), [one, ended])
  assert.deepEqual(await (await openStream(t, `${path}?follow=1`)).rest(), [one])
})

test('a tail beyond its bounds is refused', async (t) => {
  const { call } = await startRuntime(t, async function* () {})

  for (const tail of ['-3', '10001', 'many', '1.5', '']) {
    const { status, body } = await call('GET', `/api/v1/services/web/logs?tail=${tail}`)
    const words = 'tail: must be a whole number from 0 to 10000'
    assert.deepEqual([tail, status, body.code, body.detail], [tail, 400, 'invalid_request', words])
  }
})

test('who leaves a runtime log stops its source', async (t) => {
  const gone = { signal: null as AbortSignal | null }
  const { path } = await startRuntime(t, async function* (_, { signal }) {
    gone.signal = signal
    yield line('one')
    await once(signal, 'abort')
  })
  const stream = await openStream(t, `${path}?follow=true`)
  await stream.next()

  stream.close()

  await eventually('the source was told', () => gone.signal?.aborted)
})

test('a runtime log that breaks off closes without end', async (t) => {
  const { path } = await startRuntime(t, async function* () {
    yield line('one')
    throw new Failure('docker_unavailable', 'gone')
  })

  const events = await (await openStream(t, path)).rest()

  assert.deepEqual(
    events.map(({ event }) => event),
    ['log'],
  )
})

test('a runtime log is 503 while Docker does not answer', async (t) => {
  const api = await startRuntime(t, async function* () {})
  api.context.observe = { ...api.context.observe, engine: async () => null }

  const { status, body, headers } = await api.call('GET', '/api/v1/services/web/logs')

  assert.deepEqual([status, body.code, headers.get('retry-after')], [503, 'docker_unavailable', '5'])
})
