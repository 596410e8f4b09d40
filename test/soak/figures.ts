// The figures of a run.
import { percentile } from '../bench/percentiles.ts'
import { type Evidence, type Swap, type SwapKind, swapKinds } from './evidence.ts'
import { mayEnd } from './judge.ts'
import { isSlow, type RequestSample } from './sample.ts'

export interface Latency {
  requests: number
  p50Ms: number
  p99Ms: number
  maxMs: number
}

export interface Figures {
  requests: number
  failed: number
  /** The number of requests per kind of connection. */
  connections: Record<string, number>
  /** Latencies of quick requests: of all, and by what was in progress at their scheduled time. */
  latency: { all: Latency; between: Latency; during: Latency; atSwitch: Latency }
  /** The delay of the sender itself, which is included in the latencies. */
  sender: { p99Ms: number; maxMs: number }
  slow: { requests: number; longestMs: number }
  swaps: { total: number; neighbour: number; byKind: Record<SwapKind, number> }
  longestSwap: { toLiveMs: number; toDrainedMs: number; words: string }
  instances: number
  /** Opened streams, and how those ended that were drained correctly. */
  streams: { opened: number; messages: number; endings: Record<string, number> }
}

/** Around the time when a version becomes live. */
const switchMs = 500

export function figuresOf(evidence: Evidence, neighbour: string): Figures {
  const { requests, streams, swaps } = evidence
  const quick = requests.filter((request) => !isSlow(request))
  const slow = requests.filter(isSlow)
  const lateMs = quick.map((request) => request.lateMs)
  const instances = new Set([...requests, ...streams].map(({ instance }) => instance))
  return {
    requests: requests.length,
    failed: requests.filter(({ fault }) => fault !== null).length,
    connections: countBy(requests.map(({ connection }) => connection)),
    latency: latenciesOf(quick, swaps),
    sender: { p99Ms: percentile(lateMs, 99), maxMs: percentile(lateMs, 100) },
    slow: { requests: slow.length, longestMs: longest(slow.map(({ sentAt, doneAt }) => doneAt - sentAt)) },
    swaps: {
      total: swaps.length,
      neighbour: swaps.filter(({ service }) => service === neighbour).length,
      byKind: Object.fromEntries(
        swapKinds.map((kind) => [kind, swaps.filter((swap) => swap.kind === kind).length]),
      ) as Record<SwapKind, number>,
    },
    longestSwap: longestSwap(swaps),
    instances: instances.size - (instances.has(null) ? 1 : 0),
    streams: streamFigures(evidence),
  }
}

function latenciesOf(quick: RequestSample[], swaps: readonly Swap[]): Figures['latency'] {
  const isWithin = (at: number, from: number, to: number) => from <= at && at <= to
  const duringSwap = ({ sentAt }: RequestSample) =>
    swaps.some(({ askedAt, doneAt }) => isWithin(sentAt, askedAt, doneAt))
  const atSwitch = ({ sentAt }: RequestSample) =>
    swaps.some(({ liveAt, switchingAt }) =>
      isWithin(sentAt, (switchingAt ?? liveAt) - switchMs, liveAt + switchMs),
    )
  return {
    all: latencyOf(quick),
    between: latencyOf(quick.filter((request) => !duringSwap(request))),
    during: latencyOf(quick.filter(duringSwap)),
    atSwitch: latencyOf(quick.filter(atSwitch)),
  }
}

function latencyOf(requests: RequestSample[]): Latency {
  if (requests.length === 0) return { requests: 0, p50Ms: 0, p99Ms: 0, maxMs: 0 }
  const values = requests.map(({ latencyMs }) => latencyMs)
  const [p50Ms, p99Ms, maxMs] = [50, 99, 100].map((percent) => percentile(values, percent))
  return { requests: requests.length, p50Ms: p50Ms!, p99Ms: p99Ms!, maxMs: maxMs! }
}

function streamFigures(evidence: Evidence): Figures['streams'] {
  const { streams } = evidence
  const drained = streams.filter(
    (stream) => stream.endedAt !== null && mayEnd(evidence, stream, stream.endedAt),
  )
  return {
    opened: streams.filter(({ openedAt }) => openedAt !== null).length,
    messages: streams.reduce((sum, { received }) => sum + received, 0),
    endings: countBy(drained.map(({ kind, ending }) => `${kind} ${ending}`)),
  }
}

function countBy(names: string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

function longestSwap(swaps: readonly Swap[]): Figures['longestSwap'] {
  const toLiveMs = longest(swaps.map(({ liveAt, askedAt }) => liveAt - askedAt))
  const toDrainedMs = longest(swaps.map(({ doneAt, askedAt }) => doneAt - askedAt))
  const swap = swaps.find(({ doneAt, askedAt }) => doneAt - askedAt === toDrainedMs)
  return { toLiveMs, toDrainedMs, words: swap ? `${swap.kind} of ${swap.service}` : 'none' }
}

function longest(durationsMs: number[]): number {
  return durationsMs.reduce((most, value) => Math.max(most, value), 0)
}
