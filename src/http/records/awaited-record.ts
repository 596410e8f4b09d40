// Waits for a commit of an actor, so that a response can contain the outcome. The wait is bounded; the actor
// continues after it.
import type { RecordOf } from '../../../storage/actors/actors.ts'
import { waitFor } from '../../async/wait-for.ts'
import { withTimeout } from '../../async/with-timeout.ts'
import type { HttpStorage } from '../pipeline/context.ts'

/** The record once `isWanted` accepts it, or the current one after the time limit; null if it is erased. */
export async function awaitRecord<Kind extends string>(
  storage: HttpStorage,
  id: string,
  withinMs: number,
  isWanted: (record: RecordOf<Kind>) => boolean,
): Promise<RecordOf<Kind> | null> {
  const read = () => storage.actors.record<Kind>(id)
  const subscribe = (listener: () => void) =>
    storage.changes.subscribe((change) => {
      if (change.id === id) listener()
    })
  const found = () => {
    const record = read()
    return record === null || isWanted(record) ? { record } : null
  }
  const timeoutError = new Error('the record did not change in time')
  try {
    const work = (signal: AbortSignal) => waitFor(subscribe, found, signal)
    return (await withTimeout(withinMs, undefined, work, timeoutError)).record
  } catch (error) {
    if (error === timeoutError) return read()
    throw error
  }
}
