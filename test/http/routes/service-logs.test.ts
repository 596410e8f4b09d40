// The logs of a service as event streams: what its instances wrote and what it was asked, as it is stored.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { AccessLog } from '../../../src/effects/logs/access-log.ts'
import { TrafficNumbers } from '../../../src/effects/traffic/traffic-numbers.ts'
import { Failure } from '../../../src/errors.ts'
import { accessLine } from '../../support/http/access-line.ts'
import { openStream } from '../../support/http/event-stream.ts'
import { startApi } from '../../support/http/http-context.ts'

const ts = '2026-01-02T03:04:05.678Z'
const ended = { id: null, event: 'end', data: '' }

async function startService(t: TestContext) {
  const traffic = new TrafficNumbers()
  const api = await startApi(t, { traffic })
  const { body } = await api.call('POST', '/api/v1/services', { body: { name: 'web', type: 'web_service' } })
  const id = String(body.id)
  const { runtimeLogs, accessLogs } = api.storage
  const accessLog = new AccessLog({ storage: api.storage, traffic })
  const about = { instance: '0', deploy_id: 'dep-1', nano: '901234' }
  const write = (line: string) => runtimeLogs.append(id, 'stderr', line, ts, about)
  return {
    ...api,
    id,
    runtimeLogs,
    accessLogs,
    accessLog,
    write,
    path: `${api.url}/api/v1/services/web/logs`,
  }
}

const logged = (number: number, line: string) => ({
  id: String(number),
  event: 'log',
  data: JSON.stringify({ ts, stream: 'stderr', line, instance: '0', deploy_id: 'dep-1' }),
})

test('a runtime log returns its last lines with their numbers and instances, and ends', async (t) => {
  const { path, write, runtimeLogs } = await startService(t)
  for (const line of ['one', 'two', 'three']) write(line)
  await runtimeLogs.flush()

  assert.deepEqual(await (await openStream(t, `${path}?tail=2`)).rest(), [
    logged(2, 'two'),
    logged(3, 'three'),
    ended,
  ])
  assert.deepEqual(await (await openStream(t, `${path}?tail=0`)).rest(), [ended])
  assert.deepEqual(await (await openStream(t, path, { 'last-event-id': '2' })).rest(), [
    logged(3, 'three'),
    ended,
  ])
})

test('a service without instances, and an unavailable engine, still have a log', async (t) => {
  const { path, context } = await startService(t)
  const instances = () => Promise.reject(new Failure('docker_unavailable', 'gone'))
  context.observe = { ...context.observe, instances, engine: async () => null }

  assert.deepEqual(await (await openStream(t, path)).rest(), [ended])
  assert.deepEqual(await (await openStream(t, `${path}?access=true`)).rest(), [ended])
})

test('a followed runtime log continues, and ends only with its service', async (t) => {
  const { id, path, write, runtimeLogs } = await startService(t)
  const stream = await openStream(t, `${path}?follow=true&tail=0`)
  write('first')
  assert.deepEqual(await stream.next(), logged(1, 'first'))
  write('second')
  assert.deepEqual(await stream.next(), logged(2, 'second'))

  await runtimeLogs.remove(id)

  assert.deepEqual(await stream.rest(), [ended])
})

test('a tail out of range is rejected', async (t) => {
  const { call } = await startService(t)

  for (const tail of ['-3', '10001', 'many', '1.5', '']) {
    const { status, body } = await call('GET', `/api/v1/services/web/logs?tail=${tail}`)
    const words = 'tail: must be a whole number from 0 to 10000'
    assert.deepEqual([tail, status, body.code, body.detail], [tail, 400, 'invalid_request', words])
  }
})

test('a request is a readable line of the access log, with all its details', async (t) => {
  const { id, path, accessLog } = await startService(t)
  const stream = await openStream(t, `${path}?access=true&follow=true`)

  accessLog.recordAccess(accessLine({ serviceId: id }))
  const event = await stream.next()

  const access = {
    request_id: 'b-1',
    client: '203.0.113.9',
    method: 'GET',
    host: 'shop.localhost',
    path: '/path',
    protocol: 'HTTP/1.1',
    tls: false,
    status: 200,
    failure: null,
    bytes_in: 80,
    bytes_out: 1234,
    duration_ms: 12,
    user_agent: 'curl/8',
    deploy_id: 'dep-1',
    instance: 0,
  }
  const line = 'GET /path 200 12ms 1.2KiB 203.0.113.9 "curl/8"'
  assert.deepEqual([event?.id, event?.event], ['1', 'log'])
  assert.deepEqual(JSON.parse(event!.data), { ts, stream: 'access', line, access })
})

test('control characters from clients are escaped in the line', async (t) => {
  const { id, path, accessLog, accessLogs } = await startService(t)
  accessLog.recordAccess(
    accessLine({ serviceId: id, path: '/\u001b[2J\u009b5A', userAgent: 'evil"\u0007\n\u0085', bytesOut: 7 }),
  )
  await accessLogs.flush()

  const [event] = await (await openStream(t, `${path}?access=true`)).rest()

  const agent = '"evil\\"\\u0007\\n\\u0085"'
  assert.equal(JSON.parse(event!.data).line, `GET /\\u001b[2J\\u009b5A 200 12ms 7B 203.0.113.9 ${agent}`)
})

test('both logs of a service are separate, and a request to a deleted one leaves no trace', async (t) => {
  const { id, path, write, runtimeLogs, accessLogs, accessLog, storage } = await startService(t)
  write('from an instance')
  accessLog.recordAccess(accessLine({ serviceId: id }))
  accessLog.recordAccess(accessLine({ serviceId: 'svc-unknown' }))
  await Promise.all([runtimeLogs.flush(), accessLogs.flush()])
  const [first] = await (await openStream(t, path)).rest()
  const stored = await accessLogs.ids()

  await accessLog.remove(id)
  await storage.services.remove(id)
  accessLog.recordAccess(accessLine({ serviceId: id }))

  assert.equal(JSON.parse(first!.data).line, 'from an instance')
  assert.deepEqual([stored, await accessLogs.ids()], [[id], []])
})

test('a reader of the edge resumes after the latest request of any service', async (t) => {
  const { id, call, accessLog, accessLogs } = await startService(t)
  const { body } = await call('POST', '/api/v1/services', { body: { name: 'other' } })
  const none = await accessLog.newest()

  const at = (second: number) => `2026-01-02T03:04:0${second}.000Z`
  accessLog.recordAccess(accessLine({ serviceId: id, id: 'b-1', at: at(4), durationMs: 10 }))
  accessLog.recordAccess(accessLine({ serviceId: String(body.id), id: 'b-2', at: at(1), durationMs: 5000 }))
  await accessLogs.flush()

  assert.deepEqual([none, (await accessLog.newest())?.id], [null, 'b-2'])
})

test('the status of a public service contains its traffic, and that of others does not', async (t) => {
  const { id, call, accessLog } = await startService(t)
  await call('POST', '/api/v1/services', { body: { name: 'worker', type: 'background_worker' } })
  for (const status of [200, 404, 500]) accessLog.recordAccess(accessLine({ serviceId: id, status }))

  const web = await call('GET', '/api/v1/services/web/status')
  const worker = await call('GET', '/api/v1/services/worker/status')

  const latency = { p50_ms: 12, p95_ms: 12, p99_ms: 12 }
  assert.deepEqual(web.body.traffic, { window_seconds: 300, requests: 3, errors: 1, ...latency })
  assert.equal(worker.body.traffic, null)
})
