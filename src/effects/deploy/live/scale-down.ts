// Instances of a live deploy that are wanted no longer: no new request, time for what is open, then the end.
// Mind: who is wanted again before the end is told stays; only then nothing of it was stopped.
import { messageOf } from '../../../errors.ts'
import { retryWhileEngineAway } from '../../waiting.ts'
import { awaitSilence, stopInstances } from '../end/drain.ts'
import type { DeployPorts } from '../ports.ts'
import { forget, takeOut } from '../switch/upstreams.ts'

interface Departure {
  /** All from this one on. */
  fromIndex: number
  /** How long what is open may go on. */
  limitMs: number
}

export interface Departures {
  /** All from this index on are leaving or about to; null when none is. */
  readonly fromIndex: number | null
  /** Does nothing while another one is under way. `isOver` says that they are wanted again. */
  begin(departure: Departure, hooks: { isOver: () => boolean; onStop: () => void; onEnd: () => void }): void
  /** Gives up what is under way, and resolves when it has ended. */
  close(): Promise<void>
}

export function createDepartures(
  ports: DeployPorts,
  { id, serviceId }: { id: string; serviceId: string },
): Departures {
  const closing = new AbortController()
  let current: { fromIndex: number; ended: Promise<void> } | null = null

  const depart = async ({ fromIndex, limitMs }: Departure, isOver: () => boolean, onStop: () => void) => {
    const { signal } = closing
    const port = (ports.storage.actors.record(id)?.port as number | null) ?? 0
    const leaving = { id, serviceId, port, index: fromIndex, drainUntil: Date.now() + limitMs }
    await takeOut(ports, leaving, signal, fromIndex)
    await retryWhileEngineAway(ports, signal, () => awaitSilence(ports, leaving, signal, isOver))
    if (isOver()) return
    onStop()
    await retryWhileEngineAway(ports, signal, () => stopInstances(ports, id, fromIndex))
    await forget(ports, leaving, signal, fromIndex)
  }

  return {
    get fromIndex() {
      return current?.fromIndex ?? null
    },
    begin(departure, { isOver, onStop, onEnd }) {
      if (current || closing.signal.aborted) return
      const ended = depart(departure, isOver, onStop).catch((error: unknown) => {
        if (closing.signal.aborted) return
        ports.logger.warn(
          { deploy: id, reason: messageOf(error) },
          'instances could not be stopped; trying on',
        )
      })
      const { fromIndex } = departure
      current = {
        fromIndex,
        ended: ended.then(() => {
          current = null
          onEnd()
        }),
      }
    },
    async close() {
      closing.abort()
      await current?.ended
    },
  }
}
