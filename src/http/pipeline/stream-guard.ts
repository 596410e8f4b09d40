// Ends event streams whose session or token is no longer valid. After a deletion this can take 5 s.
import type { CallerId } from '../../account/callers.ts'
import type { EventStream } from '../server/event-stream.ts'

export type LongLived = Pick<EventStream, 'end' | 'onClose'>

/** It also checks on its own, for credentials that expire or are revoked by another process. */
const checkEveryMs = 2000

export function createStreamGuard(isValid: (caller: CallerId) => boolean) {
  const open = new Map<string, { caller: CallerId; streams: Set<LongLived> }>()

  function check(): void {
    for (const { caller, streams } of [...open.values()]) {
      if (!isValid(caller)) for (const stream of [...streams]) stream.end()
    }
  }

  const timer = setInterval(check, checkEveryMs).unref()
  return {
    /** Ends the stream when the caller's credential is no longer valid, possibly immediately. */
    admit(caller: CallerId, stream: LongLived): void {
      if (!isValid(caller)) {
        stream.end()
        return
      }
      const callerStreams = open.get(caller.id) ?? { caller, streams: new Set() }
      open.set(caller.id, callerStreams)
      callerStreams.streams.add(stream)
      stream.onClose(() => {
        callerStreams.streams.delete(stream)
        if (callerStreams.streams.size === 0 && open.get(caller.id) === callerStreams) open.delete(caller.id)
      })
    },
    check,
    stop: () => clearInterval(timer),
  }
}

export type StreamGuard = ReturnType<typeof createStreamGuard>
