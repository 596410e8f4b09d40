// Small made-up evidence of a run without violations, to which tests add a single fault.
// The service `shop` is swapped from dep-1 to dep-2 at 3.1 s; its neighbour `wiki` is not.
import type { DeployTimes, Evidence, Swap } from './evidence.ts'
import { type RequestSample, type StreamSample, slowKinds } from './sample.ts'

export const beganAt = Date.parse('2026-01-01T00:00:00.000Z')

/** A timestamp from seconds into the run. */
export const at = (seconds: number) => beganAt + seconds * 1000

export const formerInstance = { deploy: 'dep-1', instance: 'former/1' }
export const newInstance = { deploy: 'dep-2', instance: 'new/1' }
export const wikiInstance = { deploy: 'dep-w', instance: 'wiki/1' }

export const theSwap: Swap = {
  number: 1,
  kind: 'deploy',
  service: 'shop',
  words: 'to v2',
  askedAt: at(2),
  switchingAt: at(3),
  liveAt: at(3.1),
  limitAt: at(5.1),
  doneAt: at(6),
  left: ['former'],
  joined: ['new'],
}

export function request(seconds: number, change: Partial<RequestSample> = {}): RequestSample {
  return {
    kind: 'get',
    service: 'shop',
    connection: 'used',
    sentAt: at(seconds),
    doneAt: at(seconds) + 2,
    ...(seconds < 3.1 ? formerInstance : newInstance),
    requestId: 'request',
    fault: null,
    ...change,
  }
}

export function stream(change: Partial<StreamSample>): StreamSample {
  return {
    kind: 'websocket',
    service: 'shop',
    sentAt: at(0),
    openedAt: (change.sentAt ?? at(0)) + 3,
    endedAt: null,
    ending: null,
    ...formerInstance,
    received: 10,
    fault: null,
    ...change,
  }
}

export function calmRun(): Evidence {
  const before = { switchingAt: at(-5), liveAt: at(-4) }
  const quick = Array.from({ length: 100 }, (_, index) => request(index / 10))
  const slow = slowKinds.map((kind, index) => request(4 + index, { kind, doneAt: at(5 + index) }))
  const load = {
    port: 80,
    perSecond: 10,
    encrypted: null,
    slowMs: { least: 100, most: 1000 },
    eventStreams: 1,
    webSockets: 1,
  }
  return {
    plan: {
      seed: 1,
      services: [
        { ...load, service: 'shop', host: 'shop.localhost', slow: 1 },
        { ...load, service: 'wiki', host: 'wiki.localhost', slow: 0, perSecond: 0 },
      ],
    },
    loadMs: 10_000,
    requests: [...quick, ...slow],
    streams: [
      stream({ endedAt: at(5.1), ending: 'close 1001' }),
      stream({ kind: 'events', endedAt: at(5.2), ending: 'cut: aborted' }),
      stream({ sentAt: at(5.2), ...newInstance }),
      stream({ service: 'wiki', ...wikiInstance }),
      stream({ kind: 'events', service: 'wiki', ...wikiInstance }),
    ],
    swaps: [theSwap],
    deploys: [
      reign('dep-1', 'shop', { ...before, drainingAt: at(3.1), deactivatedAt: at(5.9) }),
      reign('dep-2', 'shop', { switchingAt: at(3), liveAt: at(3.1) }),
      reign('dep-w', 'wiki', before),
    ],
  }
}

function reign(id: string, service: string, times: Partial<DeployTimes>): DeployTimes {
  return { id, service, switchingAt: null, liveAt: null, drainingAt: null, deactivatedAt: null, ...times }
}
