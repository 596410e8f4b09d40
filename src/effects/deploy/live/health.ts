// Whether a live deploy is degraded: fewer instances run than wanted, or one keeps crashing. An exit that
// upkeep itself requested does not count.
import type { InstanceState } from '../../../docker/containers/instances.ts'

export interface Health {
  /** This instance is about to be stopped on purpose. */
  expectExit(name: string): void
  /** From now on, an exit of this instance counts as a crash again. */
  expectRunning(name: string): void
  /** Returns false if upkeep requested the exit. */
  sawExit(name: string): boolean
  /** The reason why a running instance gets no requests; null if all running instances get requests. */
  sawUnready(reason: string | null): void
  /** The reason why the deploy is degraded, or null. Called once a round, with the state from Docker. */
  findShortfall(instances: InstanceState[], wanted: number): string | null
}

type Availability =
  /** As many instances run as wanted. */
  | 'enough'
  /** Too few for one round, as during a restart. */
  | 'restarting'
  /** Too few for two rounds or more. */
  | 'short'

const crashLoopExits = 3
const crashLoopMs = 5 * 60_000
const unreadyMs = 5_000

export function createHealth(now: () => number = Date.now): Health {
  const removedIds = new Set<string>()
  let exits: number[] = []
  let availability: Availability = 'enough'
  let unready: { reason: string; since: number } | null = null

  return {
    expectExit: (name) => void removedIds.add(name),
    expectRunning: (name) => void removedIds.delete(name),
    sawExit(name) {
      if (removedIds.has(name)) return false
      exits.push(now())
      return true
    },
    sawUnready(reason) {
      unready = reason === null ? null : { reason, since: unready?.since ?? now() }
    },
    findShortfall(instances, wanted) {
      exits = exits.filter((at) => now() - at < crashLoopMs)
      const running = instances.filter(({ state }) => state === 'running').length
      if (running >= wanted) availability = 'enough'
      else availability = availability === 'enough' ? 'restarting' : 'short'
      if (wanted === 0) unready = null
      if (wanted > 0 && exits.length >= crashLoopExits) {
        return `instances ended ${exits.length} times within 5 minutes, and are restarted`
      }
      if (availability === 'short') return `${running} of ${wanted} instances run`
      // Each start takes a moment.
      return unready && now() - unready.since >= unreadyMs ? unready.reason : null
    },
  }
}
