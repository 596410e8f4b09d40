// One watch on the engine's events for the whole daemon. It passes each event to the deploy that it concerns.
// An event only causes the receiver to read the state again; its content is not trusted.
import type { ContainerEvent } from '../../docker/engine/events.ts'

type Listener = (event: ContainerEvent) => void

const allInstances = '*'

export interface InstanceEvents {
  subscribe(deployId: string, listener: Listener): () => void
  subscribeService(serviceId: string, listener: Listener): () => void
  subscribeAll(listener: Listener): () => void
  publish(event: ContainerEvent): void
}

export function createInstanceEvents(): InstanceEvents {
  const listeners = new Map<string, Set<Listener>>()

  /** Ids of deploys and services differ by their prefix, and from `allInstances`. */
  function subscribe(id: string, listener: Listener): () => void {
    const idListeners = listeners.get(id) ?? new Set()
    listeners.set(id, idListeners.add(listener))
    return () => {
      idListeners.delete(listener)
      if (idListeners.size === 0) listeners.delete(id)
    }
  }

  return {
    subscribe,
    subscribeService: subscribe,
    subscribeAll: (listener) => subscribe(allInstances, listener),
    publish(event) {
      for (const id of [event.deployId, event.serviceId, allInstances]) {
        for (const listener of listeners.get(id) ?? []) listener(event)
      }
    },
  }
}
