// Starts a round of upkeep early: after a change of the service, or an event of its instances.
import { waitForWake } from '../../../async/wait-for-wake.ts'
import type { ContainerEvent } from '../../../docker/engine/events.ts'
import type { DeployPorts } from '../ports.ts'

export interface WakeSignal {
  /** Resolves when upkeep is woken, immediately if it was woken since the last call, or after the time. */
  next(withinMs: number, signal: AbortSignal): Promise<void>
  wake(): void
  close(): void
}

type State =
  /** Upkeep is in a round, and nothing happened since the round began. */
  | { mode: 'quiet' }
  /** Something happened: the next wait ends immediately. */
  | { mode: 'woken' }
  /** Upkeep waits for `wake` to be called. */
  | { mode: 'waiting'; wake: () => void }

export function createWakeSignal(
  ports: Pick<DeployPorts, 'storage' | 'instanceEvents'>,
  deployId: string,
  serviceId: string,
  onExit: (event: ContainerEvent) => void,
): WakeSignal {
  let state: State = { mode: 'quiet' }
  const wake = () => {
    if (state.mode === 'waiting') state.wake()
    state = { mode: 'woken' }
  }
  const isWoken = () => state.mode === 'woken'
  const stopChanges = ports.storage.changes.subscribe((change) => {
    if (change.kind === 'service' && change.id === serviceId) wake()
  })
  const stopEvents = ports.instanceEvents.subscribe(deployId, (event) => {
    if (event.action === 'die') onExit(event)
    wake()
  })
  return {
    async next(withinMs, signal) {
      const listen = (listener: () => void) => {
        state = { mode: 'waiting', wake: listener }
      }
      if (!isWoken()) await waitForWake(listen, withinMs, signal)
      state = { mode: 'quiet' }
    },
    wake,
    close() {
      stopChanges()
      stopEvents()
    },
  }
}
