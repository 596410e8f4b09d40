// The requests and streams that are in flight on one server. A stop waits for requests, but ends streams.
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

/** Called after the response was sent, or after the client disconnected. */
export function removeRequest({ requests, onIdle }: InFlight, request: object): void {
  if (requests.delete(request) && requests.size === 0) onIdle?.()
}

/** Resolves when no request is in flight, at the latest after `deadlineMs`. */
export async function waitUntilIdle(inFlight: InFlight, deadlineMs: number): Promise<void> {
  if (inFlight.requests.size === 0) return
  const idle = new Promise<void>((resolve) => {
    inFlight.onIdle = resolve
  })
  await settleWithin(idle, deadlineMs, undefined)
}
