// Parks an actor: it stops, its record shows `failed`, and its Docker objects stay until an operator decides.
import type { ParkCode } from '../../storage/actors/actors.ts'
import { sleep } from '../async/sleep.ts'
import type { SupervisorOptions } from './options.ts'

interface ParkingParts extends Pick<SupervisorOptions, 'storage' | 'logger'> {
  now: () => number
  halt: AbortSignal
  onParked: SupervisorOptions['onParked']
  /** The delay after `tries` failed attempts. */
  delayMs(tries: number): number
  forget(id: string): void
}

export type Park = (id: string, reason: string, code: ParkCode) => Promise<void>

/** The returned function retries while the store cannot write, until the supervisor stops. */
export function createParking({ storage, logger, now, halt, onParked, delayMs, forget }: ParkingParts): Park {
  return async (id, reason, code) => {
    logger.error({ actor: id, reason }, 'an actor is parked')
    for (let tries = 1; !halt.aborted; tries++) {
      try {
        await storage.actors.park(id, reason, new Date(now()).toISOString(), code)
        forget(id)
        return await onParked?.(id, reason)
      } catch (err) {
        logger.error({ err, actor: id }, 'failed to mark an actor as parked')
        await sleep(delayMs(tries), halt).catch(() => undefined)
      }
    }
  }
}
