// Waiting for what an actor commits: a request that asked for something answers with what came of it.
// Mind: the wait is bounded, and what was asked for goes on without it.
import { waitFor } from '../async/wait-for.ts'
import { withTimeout } from '../async/with-timeout.ts'
import type { HttpStorage } from './context.ts'

/** The actor's record as soon as it is as wanted, or as it is when the time is over. */
export async function awaitRecord<Record>(
  storage: HttpStorage,
  id: string,
  withinMs: number,
  isWanted: (record: Record) => boolean,
): Promise<Record> {
  const look = () => storage.actors.record(id) as unknown as Record
  const subscribe = (listener: () => void) =>
    storage.changes.subscribe((change) => {
      if (change.id === id) listener()
    })
  const found = () => {
    const record = look()
    return isWanted(record) ? { record } : null
  }
  const late = new Error('the record did not change in time')
  try {
    const work = (signal: AbortSignal) => waitFor(subscribe, found, signal)
    return (await withTimeout(withinMs, undefined, work, late)).record
  } catch (error) {
    if (error === late) return look()
    throw error
  }
}
