// What is going on in one server: requests without an answer, streams without an end.
import type { EventStream } from './event-stream.ts'

export interface Traffic<Request> {
  stopping: boolean
  requests: Set<Request>
  streams: Set<EventStream>
  onIdle: (() => void) | null
}

export function createTraffic<Request>(): Traffic<Request> {
  return { stopping: false, requests: new Set(), streams: new Set(), onIdle: null }
}

/** Resolves when every open request has its answer, or at the deadline. */
export function untilIdle<Request>(traffic: Traffic<Request>, deadlineMs: number): Promise<void> {
  if (traffic.requests.size === 0) return Promise.resolve()
  return new Promise<void>((resolve) => {
    const deadline = setTimeout(resolve, deadlineMs)
    traffic.onIdle = () => {
      clearTimeout(deadline)
      resolve()
    }
  })
}
