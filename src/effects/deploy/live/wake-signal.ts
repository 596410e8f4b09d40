// Starts a round of upkeep early: after a change of the service, or an event of its instances.
import { waitForWake } from '../../../async/wait-for-wake.ts'
import type { ContainerEvent } from '../../../docker/engine/events.ts'
import type { DeployPorts } from '../ports.ts'

export function createWakeSignal(
  ports: Pick<DeployPorts, 'storage' | 'instanceEvents'>,
  deployId: string,
  serviceId: string,
  onExit: (event: ContainerEvent) => void,
) {
  let isWoken = false
  let endWait = () => {}
  const wake = () => {
    isWoken = true
    endWait()
  }
  const stopChanges = ports.storage.changes.subscribe((change) => {
    if (change.kind === 'service' && change.id === serviceId) wake()
  })
  const stopEvents = ports.instanceEvents.subscribe(deployId, (event) => {
    if (event.action === 'die') onExit(event)
    wake()
  })
  return {
    /** Resolves when upkeep is woken, immediately if it was woken since the last call, or after the time. */
    async next(withinMs: number, signal: AbortSignal): Promise<void> {
      if (!isWoken) await waitForWake((listener) => (endWait = listener), withinMs, signal)
      isWoken = false
    },
    wake,
    close() {
      stopChanges()
      stopEvents()
    },
  }
}
