// Detection of the port when none is configured.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createAdvice,
  isLikely,
  mayStillOpenPort,
  pickListeningPort,
} from '../../../../src/effects/deploy/check/port-search.ts'

const at = (...ports: number[]) => ports.map((port) => ({ port, isLoopback: false }))
const inside = (port: number) => ({ port, isLoopback: true })

test('the only reachable port is used', () => {
  assert.equal(pickListeningPort(at(8000), []), 8000)
  assert.equal(pickListeningPort([...at(8000), inside(9000)], []), 8000)
  assert.equal(pickListeningPort(at(50051), []), 50051)
  assert.equal(pickListeningPort([inside(8000)], []), null)
  assert.equal(pickListeningPort([], []), null)
})

test('with several ports none is guessed, unless all others are known side ports', () => {
  assert.equal(pickListeningPort(at(8000, 9000), []), null)
  assert.equal(pickListeningPort(at(8000, 45_123, 45_124), []), 8000)
  assert.equal(pickListeningPort(at(45_123, 45_124), []), null)
})

test('of several exposed ports the first open one is used, with ssh and TLS last', () => {
  assert.equal(pickListeningPort(at(80, 443, 2019), [80, 443]), 80)
  assert.equal(pickListeningPort(at(443), [80, 443]), 443)
  assert.equal(pickListeningPort(at(22, 3001), [22, 3001]), 3001)
  assert.equal(pickListeningPort(at(9100), [80, 443]), 9100)
})

test('an exposed metrics port comes last, and any but the first gives the others time', () => {
  assert.equal(pickListeningPort(at(2112, 3000), [2112, 3000]), 3000)
  assert.equal(pickListeningPort(at(9090), [3000, 9090]), 9090)
  assert.deepEqual([isLikely(9090, [3000, 9090]), isLikely(3000, [3000, 9090])], [false, true])
  assert.equal(isLikely(8000, [3000, 9090]), false)
  assert.deepEqual([isLikely(8000, []), isLikely(9090, [])], [true, false])
})

test('an idle app may be late only with a side port or a long grace period', () => {
  const within = (seconds: number) => ({ settings: { health_check_timeout_seconds: seconds } })
  assert.equal(mayStillOpenPort(at(9090), within(300)), true)
  assert.equal(mayStillOpenPort([...at(9090), inside(2019)], within(60)), true)
  assert.equal(mayStillOpenPort(at(8000), within(300)), false)
  assert.equal(mayStillOpenPort(at(8000, 9090), within(300)), false)
  assert.equal(mayStillOpenPort([inside(5000)], within(300)), false)
  assert.equal(mayStillOpenPort(at(8000), within(301)), true)
})

test('an app that listens on 127.0.0.1 gets a hint with that port', () => {
  const advice = (listeners: ReturnType<typeof at>, portSource: 'default' | 'setting') =>
    createAdvice(listeners, { serviceName: 'web', port: 3000, portSource }).message.replace(
      'the instance listens on ',
      '',
    )
  const only = '5000 at 127.0.0.1 only: it must listen on 0.0.0.0:5000'
  assert.equal(advice([inside(5000)], 'default'), only)
  assert.equal(advice([inside(5000)], 'setting'), `${only}, with berth update web --port 5000`)
  assert.match(advice([inside(3000)], 'setting'), /^3000 at 127.0.0.1 only: it must listen on 0.0.0.0:3000/)
  assert.match(advice([...at(9090), inside(3000)], 'setting'), /: it must listen on 0.0.0.0:3000$/)
  assert.match(advice([inside(2019), inside(5000)], 'default'), /: it must listen on 0.0.0.0:5000$/)
  assert.match(advice(at(2112, 8000), 'setting'), /: berth update web --port 8000$/)
})
