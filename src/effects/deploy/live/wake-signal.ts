// What makes upkeep look again before its round is over: a change of the service, an event of its instances.
import { waitForWake } from '../../../async/wait-for-wake.ts'
import type { ContainerEvent } from '../../../docker/engine/events.ts'
import type { DeployPorts } from '../ports.ts'

export interface Nudge {
  /** Resolves at the next nudge (one since the last call counts) or after the time. */
  next(withinMs: number, signal: AbortSignal): Promise<void>
  /** From outside. */
  wake(): void
  close(): void
}

export function createNudge(
  ports: DeployPorts,
  deployId: string,
  serviceId: string,
  onExit: (event: ContainerEvent) => void,
): Nudge {
  let nudged = false
  let wake: (() => void) | null = null
  const nudge = () => {
    nudged = true
    wake?.()
  }
  const stopChanges = ports.storage.changes.subscribe((change) => {
    if (change.kind === 'service' && change.id === serviceId) nudge()
  })
  const stopEvents = ports.instanceEvents.subscribe(deployId, (event) => {
    if (event.action === 'die') onExit(event)
    nudge()
  })
  return {
    async next(withinMs, signal) {
      if (!nudged) await waitForWake((listener) => (wake = listener), withinMs, signal)
      nudged = false
      wake = null
    },
    wake: nudge,
    close() {
      stopChanges()
      stopEvents()
    },
  }
}
