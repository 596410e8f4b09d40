// The clock of schedules. Tests replace it, so that two years pass in a second.
import { waitForWake } from '../../async/wait-for-wake.ts'

export interface Clock {
  /** Ms since 1970. */
  now(): number
  /** Resolves when the listener handed to `listen` is called, or after the time; rejects with the signal. */
  pause(listen: (listener: () => void) => void, durationMs: number, signal: AbortSignal): Promise<void>
}

export const systemClock: Clock = { now: Date.now, pause: waitForWake }
