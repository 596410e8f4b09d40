// Removes surplus instances of a live deploy: first no new requests, then time for open requests, then
// the stop.
import { sleep } from '../../../async/sleep.ts'
import { messageOf } from '../../../errors.ts'
import { retryWhileEngineUnavailable } from '../../waiting.ts'
import { stopInstances, waitUntilDrained } from '../end/drain.ts'
import type { DeployPorts } from '../ports.ts'
import { drainUpstreamsBestEffort, releaseSlots } from '../switch/upstreams.ts'

const retryPauseMs = 1000

interface ScaleDownRequest {
  fromIndex: number
  /** How long open requests may last. */
  limitMs: number
}

interface Hooks {
  isWantedAgain: () => boolean
  onStop: () => void
  onEnd: () => void
}

type State =
  | { phase: 'idle' }
  /** The instances get no new requests. They stay if they are wanted again. */
  | { phase: 'draining'; fromIndex: number; ended: Promise<void> }
  /** The instances are being stopped, even if they are wanted again. */
  | { phase: 'stopping'; fromIndex: number; ended: Promise<void> }
  /** Upkeep has ended: no new scale-down starts. */
  | { phase: 'closed' }

export interface ScaleDown {
  /** Instances from this index on are being removed; null when none are. */
  readonly fromIndex: number | null
  /** Does nothing unless idle. */
  begin(request: ScaleDownRequest, hooks: Hooks): void
  /** Aborts a running scale-down, and resolves when it has ended. */
  close(): Promise<void>
}

export function createScaleDown(
  ports: DeployPorts,
  { id, serviceId }: { id: string; serviceId: string },
): ScaleDown {
  const closing = new AbortController()
  let state: State = { phase: 'idle' }

  const remove = async ({ fromIndex, limitMs }: ScaleDownRequest, { isWantedAgain, onStop }: Hooks) => {
    const { signal } = closing
    const port = (ports.storage.actors.record(id)?.port as number | null) ?? 0
    const drainRequest = { id, serviceId, port, index: fromIndex, drainUntil: Date.now() + limitMs }
    await drainUpstreamsBestEffort(ports, drainRequest, signal, fromIndex)
    await retryWhileEngineUnavailable(ports, signal, () =>
      waitUntilDrained(ports, drainRequest, signal, isWantedAgain),
    )
    if (isWantedAgain() || state.phase !== 'draining') return
    state = { ...state, phase: 'stopping' }
    onStop()
    await retryWhileEngineUnavailable(ports, signal, () => stopInstances(ports, id, fromIndex))
    await releaseSlots(ports, drainRequest, signal, fromIndex)
  }
  const removeOrWarn = (request: ScaleDownRequest, hooks: Hooks) =>
    remove(request, hooks).catch(async (error: unknown) => {
      if (closing.signal.aborted) return
      ports.logger.warn({ deploy: id, reason: messageOf(error) }, 'instances could not be stopped; retrying')
      // The next round starts as soon as this one has ended, and Docker may refuse again immediately.
      await sleep(retryPauseMs, closing.signal).catch(() => undefined)
    })

  return {
    get fromIndex() {
      return 'fromIndex' in state ? state.fromIndex : null
    },
    begin(request, hooks) {
      if (state.phase !== 'idle') return
      const ended = removeOrWarn(request, hooks).then(() => {
        if (state.phase !== 'closed') state = { phase: 'idle' }
        hooks.onEnd()
      })
      state = { phase: 'draining', fromIndex: request.fromIndex, ended }
    },
    async close() {
      const last = state
      state = { phase: 'closed' }
      closing.abort()
      if ('ended' in last) await last.ended
    },
  }
}
