// Which port is used where nothing says it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { choosePort } from '../../src/effects/deploy/port-search.ts'

const at = (...ports: number[]) => ports.map((port) => ({ port, isLoopback: false }))
const inside = (port: number) => ({ port, isLoopback: true })

test('the only port that can be reached is used', () => {
  assert.equal(choosePort(at(8000), []), 8000)
  assert.equal(choosePort([...at(8000), inside(9000)], []), 8000)
  assert.equal(choosePort(at(50051), []), 50051)
  assert.equal(choosePort([inside(8000)], []), null)
  assert.equal(choosePort([], []), null)
})

test('of several ports none is guessed, except beside listeners that the kernel has placed', () => {
  assert.equal(choosePort(at(8000, 9000), []), null)
  assert.equal(choosePort(at(8000, 45_123, 45_124), []), 8000)
  assert.equal(choosePort(at(45_123, 45_124), []), null)
})

test('of several exposed ports the first that is open is used, and ssh and TLS come last', () => {
  assert.equal(choosePort(at(80, 443, 2019), [80, 443]), 80)
  assert.equal(choosePort(at(443), [80, 443]), 443)
  assert.equal(choosePort(at(22, 3001), [22, 3001]), 3001)
  assert.equal(choosePort(at(9100), [80, 443]), 9100)
})
