// Finds violations in the evidence. A pure function, so that tests can plant each kind.
// There are no tolerances: load and daemon use the same clock, and every timestamp is taken in
// the edge's favour.
import type { Violation } from '../crash/ledger.ts'
import { type Evidence, swapsAt } from './evidence.ts'
import { containerOf, isSlow, type RequestSample, type StreamSample, slowKinds } from './sample.ts'
import { wrongVersions } from './versions.ts'
import { describeSwap, violationOf } from './violation.ts'

/** The share of the planned load that must have been sent; a missing load proves nothing. */
const minShare = 0.95
/** An instance that existed this long under load must have received a request. */
const idleMs = 5000

export function judge(evidence: Evidence): Violation[] {
  return [
    ...evidence.requests.flatMap((request) => faultOfRequest(evidence, request)),
    ...evidence.streams.flatMap((stream) => faultOfStream(evidence, stream)),
    ...wrongVersions(evidence),
    ...idleInstances(evidence),
    ...evidence.plan.services.flatMap(({ service }) => missingLoad(evidence, service)),
  ]
}

function faultOfRequest(evidence: Evidence, request: RequestSample): Violation[] {
  if (request.fault === null) return []
  const rule = isSlow(request) ? 'no slow request fails' : 'no request fails'
  const { service, kind, connection, fault } = request
  const text = `${service}: ${kind} on ${connection} connection: ${fault}`
  return [violationOf(evidence, rule, text, request, request.doneAt)]
}

function faultOfStream(evidence: Evidence, stream: StreamSample): Violation[] {
  const { service, kind, fault, endedAt, openedAt, ending } = stream
  if (fault !== null) {
    const text = `${service}: ${kind}: ${fault}`
    return [
      violationOf(evidence, 'streams open and carry every message', text, stream, endedAt ?? stream.sentAt),
    ]
  }
  if (endedAt === null || openedAt === null || mayEnd(evidence, stream, endedAt)) return []
  const own = swapsAt(evidence, endedAt).filter((swap) => swap.service === service)
  const others = swapsAt(evidence, endedAt).filter((swap) => swap.service !== service)
  const rule =
    own.length === 0 && others.length > 0
      ? "the neighbour's streams are not cut by a swap"
      : 'streams end only with their instance, and not before the drain limit'
  const text = `${service}: ${kind} ended (${ending}) after ${endedAt - openedAt} ms`
  return [violationOf(evidence, rule, text, stream, endedAt)]
}

/** Whether its own instance was swapped out and its drain had reached the limit. */
function mayEnd({ swaps }: Evidence, stream: StreamSample, endedAt: number): boolean {
  const container = containerOf(stream)
  const swap = swaps.find(({ service, left }) => service === stream.service && left.includes(container!))
  return swap !== undefined && endedAt >= swap.limitAt
}

/** Instances created by swaps must each receive requests, unless they were removed right away. */
function idleInstances({ swaps, requests }: Evidence): Violation[] {
  const used = new Set(requests.map(containerOf))
  const endAt = requests.reduce((latest, { doneAt }) => Math.max(latest, doneAt), 0)
  return swaps.flatMap((swap) => {
    const { number, service, joined, doneAt } = swap
    const next = swaps.find((later) => later.number > number && later.service === service)
    if ((next?.askedAt ?? endAt) - doneAt < idleMs) return []
    return joined
      .filter((container) => !used.has(container))
      .map((container) => ({
        rule: 'every instance serves',
        text: `${service}: ${container} of swap ${number} never served a request`,
        evidence: [describeSwap(swap, doneAt)],
      }))
  })
}

function missingLoad({ plan, loadMs, requests, streams }: Evidence, service: string): Violation[] {
  const wanted = plan.services.find((one) => one.service === service)!
  const own = requests.filter((one) => one.service === service)
  const quick = own.filter((one) => !isSlow(one)).length
  const perSecond = wanted.perSecond + (wanted.encrypted?.perSecond ?? 0)
  const minQuick = Math.floor((perSecond * loadMs * minShare) / 1000)
  const opened = (kind: StreamSample['kind']) =>
    streams.filter((stream) => stream.service === service && stream.kind === kind && stream.openedAt !== null)
      .length
  const shortfalls = [
    quick < minQuick ? `${quick} quick requests, expected ${minQuick}` : null,
    opened('websocket') < wanted.webSockets ? `${opened('websocket')} WebSockets` : null,
    opened('events') < wanted.eventStreams ? `${opened('events')} event streams` : null,
    ...(wanted.slow === 0 ? [] : slowKinds).map((kind) =>
      own.some((one) => one.kind === kind) ? null : `no ${kind} request`,
    ),
  ]
  return shortfalls
    .filter((shortfall) => shortfall !== null)
    .map((shortfall) => ({
      rule: 'the load matches the plan',
      text: `${service}: ${shortfall}`,
      evidence: [],
    }))
}
