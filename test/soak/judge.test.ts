// Tests the judge of the soak test with one planted violation at a time, to prove that it can detect each.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { at, calmRun, formerInstance, newInstance, request, stream, theSwap, wikiInstance } from './calm.ts'
import type { Evidence } from './evidence.ts'
import { judge } from './judge.ts'
import { isSlow } from './sample.ts'

/** What the judge says, without the evidence. */
function verdict(change: Partial<Evidence> = {}): string[] {
  return judge({ ...calmRun(), ...change }).map(({ rule, text }) => `${rule}: ${text}`)
}

/** The calm run, with more that was seen. */
const withRequest = (planted: ReturnType<typeof request>) =>
  verdict({ requests: [...calmRun().requests, planted] })
const withStream = (planted: ReturnType<typeof stream>) =>
  verdict({ streams: [...calmRun().streams, planted] })

test('a run without failures has no violations', () => {
  assert.deepEqual(verdict(), [])
})

test('a request without a good response is a violation', () => {
  assert.deepEqual(withRequest(request(3.1, { fault: '503: unready', deploy: null, instance: null })), [
    'no request fails: shop: get on used connection: 503: unready',
  ])
})

test('a slow request that was cut is a violation, even at the drain limit', () => {
  const cut = { kind: 'streaming' as const, doneAt: at(5.1), fault: 'broke off', ...formerInstance }

  assert.deepEqual(withRequest(request(3, cut)), [
    'no slow request fails: shop: streaming on used connection: broke off',
  ])
})

test('a response of the old version is a violation from one millisecond after the switch', () => {
  const early = request(3.1, formerInstance)
  const late = request(3.101, formerInstance)

  assert.deepEqual(withRequest(early), [])
  assert.deepEqual(withRequest(late), [
    'no new request reaches the old version: ' + 'shop: get served by dep-1, sent 1 ms after dep-2 was live',
  ])
})

test('a request sent before the switch may be served by the old version much later', () => {
  const slow = request(3.05, { kind: 'waiting', doneAt: at(5), ...formerInstance })

  assert.deepEqual(withRequest(slow), [])
})

test('a response from a version after its drain is a separate violation', () => {
  assert.deepEqual(withRequest(request(6, formerInstance)), [
    'no request reaches a version after its drain: ' +
      'shop: get served by dep-1, sent 2900 ms after dep-2 was live',
  ])
})

test('a stream that reaches the old version after the switch is a violation', () => {
  const late = stream({ sentAt: at(4), openedAt: at(4.1), endedAt: at(5.1), ending: 'cut' })

  assert.deepEqual(withStream(late), [
    'no new request reaches the old version: ' +
      'shop: websocket served by dep-1, sent 900 ms after dep-2 was live',
  ])
})

test('a response from a version before its health check is a violation', () => {
  const violation = [
    'no request reaches a version before it is checked: shop: get served by dep-2, not checked yet',
  ]

  assert.deepEqual(withRequest(request(2.99, { ...newInstance, doneAt: at(2.999) })), violation)
  assert.deepEqual(withRequest(request(2.99, { ...newInstance, doneAt: at(3) })), [])
})

test('a response from the neighbour or an unknown app is a violation', () => {
  assert.deepEqual(withRequest(request(1, wikiInstance)), [
    'a service is served by its own deploys: shop: get served by dep-w, a foreign deploy',
  ])
  assert.deepEqual(withRequest(request(1, { deploy: 'dep-9', instance: 'x/1' })), [
    'a service is served by its own deploys: shop: get served by dep-9, a foreign deploy',
  ])
})

test("a neighbour's stream that ends while the other service is swapped is a violation", () => {
  const cut = stream({ service: 'wiki', endedAt: at(5.1), ending: 'cut', ...wikiInstance })

  assert.deepEqual(withStream(cut), [
    "the neighbour's streams are not cut by a swap: wiki: websocket ended (cut) after 5097 ms",
  ])
})

const tooEarly = 'streams end only with their instance, and not before the drain limit'

test('a stream that ends a millisecond before the drain limit is a violation', () => {
  const cut = stream({ endedAt: at(5.099), ending: 'close 1001' })

  assert.deepEqual(withStream(cut), [`${tooEarly}: shop: websocket ended (close 1001) after 5096 ms`])
})

test('a stream of an instance that stays must not end, even at a drain limit', () => {
  const cut = stream({ sentAt: at(4), openedAt: at(4), endedAt: at(5.2), ending: 'cut', ...newInstance })

  assert.deepEqual(withStream(cut), [`${tooEarly}: shop: websocket ended (cut) after 1200 ms`])
})

test('a stream that ends between swaps is a violation', () => {
  const cut = stream({ service: 'wiki', endedAt: at(8), ending: 'ended', ...wikiInstance })

  assert.deepEqual(withStream(cut), [`${tooEarly}: wiki: websocket ended (ended) after 7997 ms`])
})

test('a refused stream, a silent stream and a stream with wrong content are violations', () => {
  const refused = stream({
    openedAt: null,
    endedAt: at(4),
    fault: '503 instead of a WebSocket',
    deploy: null,
  })
  const silent = stream({ endedAt: at(5.5), fault: 'silent for 20000 ms' })

  const rule = 'streams open and carry every message'
  assert.deepEqual(withStream(refused), [`${rule}: shop: websocket: 503 instead of a WebSocket`])
  assert.deepEqual(withStream(silent), [`${rule}: shop: websocket: silent for 20000 ms`])
})

test('a new instance that never responds is a violation', () => {
  const swaps = [{ ...theSwap, doneAt: at(4), joined: ['new', 'idle'] }]

  assert.deepEqual(verdict({ swaps }), ['every instance serves: shop: idle of swap 1 never served a request'])
})

test('an instance that starts shortly before the end or stops immediately need not respond', () => {
  const fleeting = { ...theSwap, doneAt: at(4), joined: ['new', 'idle'] }
  const next = { ...theSwap, number: 2, askedAt: at(5), doneAt: at(9), left: ['idle'], joined: [] }

  assert.deepEqual(verdict({ swaps: [{ ...fleeting, doneAt: at(6) }] }), [])
  assert.deepEqual(verdict({ swaps: [fleeting, next] }), [])
})

test('a load that did not run is a violation, even if all else succeeded', () => {
  const { requests, streams } = calmRun()
  const rule = 'the load matches the plan: shop'

  assert.deepEqual(verdict({ requests: requests.slice(6) }), [`${rule}: 94 quick requests, expected 95`])
  assert.deepEqual(verdict({ requests: requests.filter((one) => !isSlow(one)) }), [
    `${rule}: no waiting request`,
    `${rule}: no streaming request`,
    `${rule}: no uploading request`,
  ])
  assert.deepEqual(verdict({ streams: streams.filter(({ kind }) => kind === 'events') }), [
    `${rule}: 0 WebSockets`,
    'the load matches the plan: wiki: 0 WebSockets',
  ])
})

test('a violation includes all observations and the swap around it', () => {
  const planted = request(3.5, { fault: '502: broken', doneAt: at(3.6) })

  const [violation] = judge({ ...calmRun(), requests: [...calmRun().requests, planted] })

  assert.deepEqual(violation!.evidence, [
    `2026-01-01T00:00:03.600Z ${JSON.stringify(planted)}`,
    'swap 1: deploy of shop to v2: asked -1.600 s, switching -0.600 s, live -0.500 s, ' +
      'drain limit +1.500 s, done +2.400 s',
  ])
})
