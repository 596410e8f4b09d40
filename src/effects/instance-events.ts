// One watch on the engine's events for the whole daemon, handed on to the deploy each event is about.
// Mind: events are nudges. Whoever gets one looks again; nobody believes it.
import type { ContainerEvent } from '../docker/events.ts'

export interface InstanceEvents {
  subscribe(deployId: string, listener: (event: ContainerEvent) => void): () => void
  publish(event: ContainerEvent): void
}

export function createInstanceEvents(): InstanceEvents {
  const listeners = new Map<string, Set<(event: ContainerEvent) => void>>()
  return {
    subscribe(deployId, listener) {
      const own = listeners.get(deployId) ?? new Set()
      listeners.set(deployId, own.add(listener))
      return () => {
        own.delete(listener)
        if (own.size === 0) listeners.delete(deployId)
      }
    },
    publish(event) {
      for (const listener of listeners.get(event.deployId) ?? []) listener(event)
    },
  }
}
