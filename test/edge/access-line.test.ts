// What the edge reports about a request, as a line of its service.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AccessEvent } from '../../src/edge/access-events.ts'
import { toAccessLine } from '../../src/effects/edge/haproxy-edge.ts'
import type { ServiceRoute } from '../../src/effects/edge/service-routes.ts'

const event: AccessEvent = {
  at: Date.parse('2030-01-01T00:00:10.000Z'),
  id: 'a',
  client: '192.0.2.1',
  host: 'shop.localhost',
  method: 'GET',
  path: '/',
  protocol: 'HTTP/1.1',
  tls: false,
  status: 200,
  end: '--',
  pool: 'p1',
  upstream: 's2',
  in: 100,
  out: 2000,
  ms: 4000,
  data: 3900,
  agent: '-',
}
const row = {
  deploy_id: 'dep-1',
  index: 1,
  slot: 2,
  address: '10.0.0.2',
  port: 3000,
  state: 'ready',
  run: null,
}
const route = { id: 'svc-1', upstreams: [row] } as never as ServiceRoute
const lineOf = (changes: Partial<AccessEvent>) => toAccessLine({ ...event, ...changes }, route)

test('a request has its start time, and its latency ends with the first byte of the response', () => {
  const { at, durationMs, firstByteMs, userAgent } = lineOf({})
  assert.deepEqual([at, durationMs, firstByteMs, userAgent], ['2030-01-01T00:00:06.000Z', 4000, 100, null])
  assert.equal(lineOf({ data: -1 }).firstByteMs, 4000)
})

test('the slot identifies the instance; a request without an instance has none', () => {
  assert.deepEqual([lineOf({}).deployId, lineOf({}).instance], ['dep-1', 1])
  assert.deepEqual(
    [lineOf({ upstream: '<NOSRV>' }).deployId, lineOf({ upstream: 's3' }).deployId],
    [null, null],
  )
})

test('a client that leaves before a response has no status and no negative time', () => {
  const { status, durationMs } = lineOf({ status: -1, ms: -1 })
  assert.deepEqual([status, durationMs], [0, 0])
})
