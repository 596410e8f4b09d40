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

/** More that was seen of the calm run, and what the judge says. */
type Case = [planted: object, ...violations: string[]]

test('a run without failures has no violations', () => {
  assert.deepEqual(verdict(), [])
})

const late = 'no new request reaches the old version: shop:'
const foreign = 'a service is served by its own deploys: shop: get served by'
const unchecked =
  'no request reaches a version before it is checked: shop: get served by dep-2, not checked yet'
const cut = { kind: 'streaming', doneAt: at(5.1), fault: 'broke off', ...formerInstance } as const
const requests: Record<string, Case> = {
  'without a good response': [
    request(3.1, { fault: '503: unready', deploy: null, instance: null }),
    'no request fails: shop: get on used connection: 503: unready',
  ],
  'that is slow and was cut at the drain limit': [
    request(3, cut),
    'no slow request fails: shop: streaming on used connection: broke off',
  ],
  'to the old version at the switch': [request(3.1, formerInstance)],
  'to the old version a millisecond later': [
    request(3.101, formerInstance),
    `${late} get served by dep-1, sent 1 ms after dep-2 was live`,
  ],
  'sent before the switch and served much later': [
    request(3.05, { kind: 'waiting', doneAt: at(5), ...formerInstance }),
  ],
  'to a version after its drain': [
    request(6, formerInstance),
    'no request reaches a version after its drain: ' +
      'shop: get served by dep-1, sent 2900 ms after dep-2 was live',
  ],
  'to a version before its health check': [request(2.99, { ...newInstance, doneAt: at(2.999) }), unchecked],
  'to a version whose health check ends with it': [request(2.99, { ...newInstance, doneAt: at(3) })],
  'to the neighbour': [request(1, wikiInstance), `${foreign} dep-w, a foreign deploy`],
  'to an unknown app': [
    request(1, { deploy: 'dep-9', instance: 'x/1' }),
    `${foreign} dep-9, a foreign deploy`,
  ],
}

for (const [what, [planted, ...violations]] of Object.entries(requests)) {
  test(`a request ${what} is ${violations.length > 0 ? 'a' : 'no'} violation`, () => {
    const seen = [...calmRun().requests, planted] as Evidence['requests']
    assert.deepEqual(verdict({ requests: seen }), violations)
  })
}

const tooEarly = 'streams end only with their instance, and not before the drain limit'
const broken = 'streams open and carry every message: shop: websocket'
const refusal = '503 instead of a WebSocket'
const streams: Record<string, Case> = {
  'that reaches the old version after the switch': [
    stream({ sentAt: at(4), openedAt: at(4.1), endedAt: at(5.1), ending: 'cut' }),
    `${late} websocket served by dep-1, sent 900 ms after dep-2 was live`,
  ],
  'of the neighbour that ends while the other service is swapped': [
    stream({ service: 'wiki', endedAt: at(5.1), ending: 'cut', ...wikiInstance }),
    "the neighbour's streams are not cut by a swap: wiki: websocket ended (cut) after 5097 ms",
  ],
  'that ends a millisecond before the drain limit': [
    stream({ endedAt: at(5.099), ending: 'close 1001' }),
    `${tooEarly}: shop: websocket ended (close 1001) after 5096 ms`,
  ],
  'of an instance that stays': [
    stream({ sentAt: at(4), openedAt: at(4), endedAt: at(5.2), ending: 'cut', ...newInstance }),
    `${tooEarly}: shop: websocket ended (cut) after 1200 ms`,
  ],
  'that ends between swaps': [
    stream({ service: 'wiki', endedAt: at(8), ending: 'ended', ...wikiInstance }),
    `${tooEarly}: wiki: websocket ended (ended) after 7997 ms`,
  ],
  'that is refused': [
    stream({ openedAt: null, endedAt: at(4), fault: refusal, deploy: null }),
    `${broken}: ${refusal}`,
  ],
  'that is silent': [
    stream({ endedAt: at(5.5), fault: 'silent for 20000 ms' }),
    `${broken}: silent for 20000 ms`,
  ],
}

for (const [what, [planted, ...violations]] of Object.entries(streams)) {
  test(`a stream ${what} is a violation`, () => {
    const seen = [...calmRun().streams, planted] as Evidence['streams']
    assert.deepEqual(verdict({ streams: seen }), violations)
  })
}

test('an instance must respond, unless the run ends shortly after or it stops immediately', () => {
  const fleeting = { ...theSwap, doneAt: at(4), joined: ['new', 'idle'] }
  const next = { ...theSwap, number: 2, askedAt: at(5), doneAt: at(9), left: ['idle'], joined: [] }
  const silence = 'every instance serves: shop: idle of swap 1 never served a request'

  assert.deepEqual(verdict({ swaps: [fleeting] }), [silence])
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
