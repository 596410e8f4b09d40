// How an actor comes back after a bug or a failed commit: it waits, goes on from disk, or is parked.
import { setTimeout as sleep } from 'node:timers/promises'
import type { ParkCode } from '../../storage/actors.ts'
import { codeOf, messageOf } from '../errors.ts'
import type { SupervisorOptions } from './options.ts'
import { misfitCode } from './recovery.ts'
import { createRestarts } from './restarts.ts'
import type { RunningActor } from './running-actor.ts'

interface ReturnParts extends Pick<SupervisorOptions, 'storage' | 'logger'> {
  now: () => number
  halt: AbortSignal
  onParked: SupervisorOptions['onParked']
  /** Starts it from disk. Throws when its snapshot does not fit. */
  revive(id: string): void
  forget(id: string): void
}

export function createReturns({ storage, logger, now, halt, onParked, revive, forget }: ReturnParts) {
  const restarts = createRestarts(now)

  async function goOnFromDisk(id: string, entry: RunningActor, error: unknown): Promise<void> {
    // A store that cannot write is no fault of the actor: it waits longer and longer, and is never parked.
    const isStoreFailure = codeOf(error) === 'commit_failed'
    const count = isStoreFailure ? restarts.next(`store of ${id}`) : restarts.next(id, entry.row.restarts)
    logger.error({ err: error, actor: id, restarts: count }, 'an actor is started again from disk')
    await null // called from inside a transition: the actor stops after it
    entry.actor.stop()
    await entry.tail
    if (!isStoreFailure && restarts.isTooMany(count)) return park(id, messageOf(error), 'failed_repeatedly')
    await pause(restarts.delayMs(count))
    if (halt.aborted) return
    if (!isStoreFailure) await storage.actors.countRestart(id, count).catch(() => undefined)
    revive(id)
  }

  /** Keeps an actor for an operator: its record shows `failed`, what it made is left as it is. */
  async function park(id: string, reason: string, code: ParkCode): Promise<void> {
    logger.error({ actor: id, reason }, 'an actor is parked')
    for (let tries = 1; !halt.aborted; tries++) {
      try {
        await storage.actors.park(id, reason, new Date(now()).toISOString(), code)
        forget(id)
        return await onParked?.(id, reason)
      } catch (err) {
        logger.error({ err, actor: id }, 'an actor could not be marked as parked')
        await pause(restarts.delayMs(tries))
      }
    }
  }

  /** Ends early, and quietly, when the supervisor stops. */
  async function pause(durationMs: number): Promise<void> {
    await sleep(durationMs, undefined, { signal: halt }).catch(() => undefined)
  }

  return {
    park,
    comeBack: (id: string, entry: RunningActor, error: unknown) =>
      goOnFromDisk(id, entry, error).catch((failure) => park(id, messageOf(failure), misfitCode(failure))),
  }
}
