// Requests, errors and latency of the last five minutes, in slots of ten seconds. Pure: the caller passes the
// time. Durations are counted in classes that are 5 % wide, so that a percentile is at most 2.5 % off and any
// number of requests takes the same memory.

export interface TrafficWindow {
  window_seconds: number
  requests: number
  /** Responses with status 500 and above. */
  errors: number
  /** null without a request. */
  p50_ms: number | null
  p95_ms: number | null
  p99_ms: number | null
}

interface Slot {
  /** The number of the slot since 1970. */
  at: number
  requests: number
  errors: number
  durations: Uint32Array
}

export const windowSeconds = 300
const slotMs = 10_000
const slotCount = (windowSeconds * 1000) / slotMs
const shortestMs = 0.1
const growth = Math.log(1.05)
/** Up to an hour. */
const classCount = 360

export class LatencyWindow {
  readonly #slots: Slot[] = []

  /** `durationMs` is null for requests without a latency: a WebSocket lasts as long as its client stays. */
  add(isError: boolean, durationMs: number | null, nowMs: number): void {
    const slot = this.#slotAt(Math.floor(nowMs / slotMs))
    slot.requests += 1
    if (isError) slot.errors += 1
    if (durationMs !== null) slot.durations[classOf(durationMs)]! += 1
  }

  read(nowMs: number): TrafficWindow {
    const oldest = Math.floor(nowMs / slotMs) - slotCount
    const slots = this.#slots.filter(({ at }) => at > oldest)
    const durations = new Uint32Array(classCount)
    for (const slot of slots) {
      for (let index = 0; index < classCount; index++) durations[index]! += slot.durations[index]!
    }
    return {
      window_seconds: windowSeconds,
      requests: slots.reduce((sum, slot) => sum + slot.requests, 0),
      errors: slots.reduce((sum, slot) => sum + slot.errors, 0),
      p50_ms: percentile(durations, 0.5),
      p95_ms: percentile(durations, 0.95),
      p99_ms: percentile(durations, 0.99),
    }
  }

  /** The current slot, which replaces the expired one. */
  #slotAt(at: number): Slot {
    const position = at % slotCount
    const known = this.#slots.find((slot) => slot.at % slotCount === position)
    if (known?.at === at) return known
    const fresh = { at, requests: 0, errors: 0 }
    if (known) return Object.assign(known, fresh, { durations: known.durations.fill(0) })
    const slot = { ...fresh, durations: new Uint32Array(classCount) }
    this.#slots.push(slot)
    return slot
  }
}

function classOf(durationMs: number): number {
  const index = Math.ceil(Math.log(Math.max(durationMs, shortestMs) / shortestMs) / growth)
  return Math.min(index, classCount - 1)
}

function percentile(durations: Uint32Array, part: number): number | null {
  const total = durations.reduce((sum, count) => sum + count, 0)
  let left = Math.ceil(total * part)
  if (left === 0) return null
  const index = durations.findIndex((count) => {
    left -= count
    return left <= 0
  })
  const middleMs = shortestMs * Math.exp((index - 0.5) * growth)
  return middleMs < 1 ? Math.round(middleMs * 10) / 10 : Math.round(middleMs)
}
