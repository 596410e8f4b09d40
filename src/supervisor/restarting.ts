// Restarts an actor from disk after a bug or a failed commit. An actor that fails too often is parked.
import { sleep } from '../async/sleep.ts'
import { codeOf, messageOf } from '../errors.ts'
import type { SupervisorOptions } from './options.ts'
import type { Park } from './parking.ts'
import type { createRestartPolicy } from './restarts.ts'
import type { RunningActor } from './running-actor.ts'
import { parkCodeFor } from './snapshot-check.ts'

interface RestartingParts extends Pick<SupervisorOptions, 'storage' | 'logger'> {
  restarts: ReturnType<typeof createRestartPolicy>
  halt: AbortSignal
  park: Park
  /** Starts the actor from disk. Throws when its snapshot does not fit. */
  revive(id: string): void
}

/** Returns a function that settles when the actor runs again, or is parked. */
export function createRestartFromDisk({ storage, logger, restarts, halt, park, revive }: RestartingParts) {
  async function restartFromDisk(running: RunningActor, error: unknown): Promise<void> {
    const { id } = running.row
    // A store that cannot write is not the actor's fault: it retries with backoff and is never parked.
    const isStoreFailure = codeOf(error) === 'commit_failed'
    const count = isStoreFailure ? restarts.next(`store of ${id}`) : restarts.next(id, running.row.restarts)
    logger.error({ err: error, actor: id, restarts: count }, 'restarting an actor from disk')
    await null // The caller may be inside a transition: the actor stops after it.
    running.actor.stop()
    await running.tail
    if (!isStoreFailure && restarts.isTooMany(count)) return park(id, messageOf(error), 'failed_repeatedly')
    await sleep(restarts.delayMs(count), halt).catch(() => undefined)
    if (halt.aborted) return
    if (!isStoreFailure) await storage.actors.countRestart(id, count).catch(() => undefined)
    revive(id)
  }

  return (running: RunningActor, error: unknown): Promise<void> =>
    restartFromDisk(running, error).catch((failure) =>
      park(running.row.id, messageOf(failure), parkCodeFor(failure)),
    )
}
