// What is going on in one server: requests without an answer, streams without an end.
// A stream is no open request: a stop does not wait for it, it ends it.
import { settleWithin } from '../../async/settle-within.ts'

export interface InFlight {
  stopping: boolean
  requests: Set<object>
  streams: Set<{ end(): void }>
  onIdle: (() => void) | null
}

export function createInFlight(): InFlight {
  return { stopping: false, requests: new Set(), streams: new Set(), onIdle: null }
}

/** The request has ended: it was answered, or its client left. */
export function removeRequest({ requests, onIdle }: InFlight, request: object): void {
  if (requests.delete(request) && requests.size === 0) onIdle?.()
}

/** Resolves when no request is open any more, and at the deadline at the latest. */
export async function waitUntilIdle(inFlight: InFlight, deadlineMs: number): Promise<void> {
  if (inFlight.requests.size === 0) return
  const idle = new Promise<void>((resolve) => {
    inFlight.onIdle = resolve
  })
  await settleWithin(idle, deadlineMs, undefined)
}
