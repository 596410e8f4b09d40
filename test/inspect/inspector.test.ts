// The inspector: the messages of @statelyai/inspect, who gets them, and that actors never wait for a viewer.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { test } from 'node:test'
import { createWebSocketReceiver, type StatelyInspectionEvent } from '@statelyai/inspect'
import { catalogue } from '../../machines/index.ts'
import { Failure } from '../../src/errors.ts'
import { openInspector } from '../../src/inspect/inspector.ts'
import { definitionOf, protocolVersion } from '../../src/inspect/messages.ts'
import { connectViewer, inspectSamples, serverToken } from '../support/supervisor/inspector.ts'
import { eventually, heldEffect, instant, temporaryStorage } from '../support/supervisor/supervision.ts'

const at = instant
const bearer = { authorization: `Bearer ${serverToken}` }

/** Without what differs from run to run, or is the same in all. */
function essence(message: StatelyInspectionEvent): object {
  const { createdAt: _, id, _version, ...rest } = message
  assert.deepEqual([id, _version], [null, protocolVersion])
  return rest
}

test('the version of the messages is that of the package whose viewers read them', () => {
  const path = new URL('../../node_modules/@statelyai/inspect/package.json', import.meta.url)
  assert.equal(protocolVersion, JSON.parse(readFileSync(path, 'utf8')).version)
})

test("the package's receiver gets running actors first, then events, snapshots and effects", async (t) => {
  const work = heldEffect()
  const { spawn, send, url } = await inspectSamples(t, {
    storage: await temporaryStorage(t),
    effects: { work: work.effect },
  })
  await spawn('err-1')
  await spawn('err-2')
  await work.started
  const received: StatelyInspectionEvent[] = []
  createWebSocketReceiver({ server: url }).subscribe((message) => received.push(message))
  await eventually('the list', () => received.length === 4)
  await send('err-2', { type: 'dance', at })
  await send('err-2', { type: 'cancel', at })
  await eventually('the end', () => received.length === 12)

  const [first, ...rest] = received.map(essence)
  const { definition, ...actor } = first as { definition: string }
  const two = { sessionId: 'err-2', rootId: 'err-2' }
  const work2 = { sessionId: 'err-2/work', rootId: 'err-2' }
  const clean2 = { sessionId: 'err-2/clean', rootId: 'err-2' }
  const active = { status: 'active', value: 'working' }
  const cleaned = { type: 'xstate.done.actor.clean' }
  assert.deepEqual(actor, {
    type: '@xstate.actor',
    name: 'err-1',
    snapshot: active,
    sessionId: 'err-1',
    rootId: 'err-1',
  })
  assert.deepEqual(rest, [
    {
      type: '@xstate.actor',
      name: 'work',
      parentId: 'err-1',
      snapshot: { status: 'active' },
      sessionId: 'err-1/work',
      rootId: 'err-1',
    },
    { type: '@xstate.actor', name: 'err-2', snapshot: active, ...two },
    { type: '@xstate.actor', name: 'work', parentId: 'err-2', snapshot: { status: 'active' }, ...work2 },
    { type: '@xstate.event', event: { type: 'dance' }, ...two },
    { type: '@xstate.snapshot', event: { type: '' }, snapshot: { status: 'stopped' }, ...work2 },
    { type: '@xstate.event', event: { type: 'cancel' }, ...two },
    {
      type: '@xstate.snapshot',
      event: { type: 'cancel' },
      snapshot: { status: 'active', value: 'cleaning' },
      ...two,
    },
    { type: '@xstate.actor', name: 'clean', parentId: 'err-2', snapshot: { status: 'active' }, ...clean2 },
    { type: '@xstate.snapshot', event: { type: '' }, snapshot: { status: 'done' }, ...clean2 },
    { type: '@xstate.event', event: cleaned, ...two },
    { type: '@xstate.snapshot', event: cleaned, snapshot: { status: 'done', value: 'canceled' }, ...two },
  ])
  const chart = JSON.parse(definition)
  assert.deepEqual(Object.keys(chart.states), ['working', 'cleaning', 'done', 'failed', 'canceled'])
  assert.equal(chart.context, undefined)
})

test('of a failure only the code is sent, and nothing of inputs and contexts', async (t) => {
  const work = async () => {
    throw new Failure('build_failed', 'the canary sang')
  }
  const { spawn, url } = await inspectSamples(t, { storage: await temporaryStorage(t), effects: { work } })
  const viewer = await connectViewer(t, url)
  await spawn('err-1', { deadlineAt: Date.now() + 987_654_321 })
  await eventually('the end', () => viewer.wire().includes('"status":"done"'))
  assert.match(viewer.wire(), /"status":"error","error":\{"code":"build_failed"\}/)
  assert.doesNotMatch(viewer.wire(), /canary|deadlineAt|notes/)
})

const strangers: Record<string, { path?: string; headers?: Record<string, string>; status: number }> = {
  'no token': { status: 401 },
  'another token': { headers: { authorization: 'Bearer bth_other' }, status: 401 },
  'another token in the query': { path: '/?access_token=bth_other', status: 401 },
  'a password instead of a token': { headers: { authorization: `Basic ${serverToken}` }, status: 401 },
  'a name that resolves to this host': { headers: { ...bearer, host: 'evil.example:80' }, status: 403 },
  'a page of another site': { headers: { ...bearer, origin: 'https://evil.example' }, status: 403 },
  'a page in a sandbox': { headers: { ...bearer, origin: 'null' }, status: 403 },
  'a page whose name begins like this host': {
    headers: { ...bearer, origin: 'http://localhost.evil.example' },
    status: 403,
  },
}

test('strangers and pages of other sites are refused before the connection opens', async (t) => {
  const { address, url } = await inspectSamples(t, { storage: await temporaryStorage(t) })
  for (const [who, { path = '/', headers = {}, status }] of Object.entries(strangers)) {
    await assert.rejects(
      connectViewer(t, address + path, headers),
      { message: `refused with ${status}` },
      who,
    )
  }
  await connectViewer(t, address, bearer)
  await connectViewer(t, url)
  for (const origin of ['http://localhost:5173', 'http://127.0.0.1', 'http://[::1]:80', 'https://stately.ai'])
    await connectViewer(t, url, { origin })
})

test('a viewer that sends something is disconnected with 1008', async (t) => {
  const { url } = await inspectSamples(t, { storage: await temporaryStorage(t) })
  const viewer = await connectViewer(t, url)
  viewer.socket.send('{"type":"cancel"}')
  assert.equal(await viewer.closed, 1008)
})

test('an address that is in use is reported', async (t) => {
  const { inspector } = await inspectSamples(t, { storage: await temporaryStorage(t) })
  const nothing = { inspect: () => () => undefined, running: async function* () {} }
  const again = openInspector({
    host: '127.0.0.1',
    port: inspector.port,
    origins: [],
    isServerToken: () => false,
    machines: {},
    actors: nothing,
  })
  await assert.rejects(again, { code: 'address_in_use' })
})

test('a connection that never becomes a viewer does not delay the stop', async (t) => {
  const { inspector, address } = await inspectSamples(t, { storage: await temporaryStorage(t) })
  const silent = connect(inspector.port, '127.0.0.1')
  await once(silent, 'connect')
  silent.write('GET / HTTP/1.1\r\n')
  const closed = once(silent, 'close')
  assert.equal((await fetch(address.replace('ws', 'http'))).status, 426)
  await inspector.stop()
  await closed
})

test('the definition of every kind is its chart without a context', () => {
  for (const [kind, { machine }] of Object.entries(catalogue)) {
    const { states, id, context } = JSON.parse(definitionOf(machine))
    assert.deepEqual([id, Object.keys(states), context], [kind, Object.keys(machine.states), undefined])
  }
})

/** The name of an event is all that a test can make long. */
const longEvent = { type: 'x'.repeat(64 * 1024), at }

test('a viewer that stops reading is dropped, and no actor waits for it', async (t) => {
  const { spawn, send, url } = await inspectSamples(t, {
    storage: await temporaryStorage(t),
    effects: { work: heldEffect().effect },
  })
  await spawn('err-1')
  // The fastest of five rounds: the machine has other work.
  const notes = async () => {
    const rounds: number[] = []
    for (let round = 0; round < 5; round++) {
      const begun = performance.now()
      for (let count = 0; count < 20; count++) await send('err-1', { type: 'note', at })
      rounds.push(performance.now() - begun)
    }
    return Math.min(...rounds)
  }
  await notes()
  const alone = await notes()
  const stalled = await connectViewer(t, url)
  await eventually('the list', () => stalled.received.length > 0)
  stalled.socket.pause()
  // Until the kernel takes no more, but below the limit of the inspector.
  for (let count = 0; count < 60; count++) await send('err-1', longEvent)
  const behind = await notes()

  for (let count = 0; count < 400; count++) await send('err-1', longEvent)
  stalled.socket.resume()
  assert.equal(await stalled.closed, 1006)
  t.diagnostic(`20 transitions: ${alone.toFixed(0)} ms alone, ${behind.toFixed(0)} ms with a stalled viewer`)
  assert.ok(behind < 5 * alone, `${behind} ms instead of ${alone}`)
})
