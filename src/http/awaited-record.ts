// Waiting for what an actor commits: a request that asked for something answers with what came of it.
// Mind: the wait is bounded, and what was asked for goes on without it.
import type { HttpStorage } from './context.ts'

/** The actor's record as soon as it is as wanted, or as it is when the time is over. */
export function awaitRecord<Record>(
  storage: HttpStorage,
  id: string,
  withinMs: number,
  isWanted: (record: Record) => boolean,
): Promise<Record> {
  const look = () => storage.actors.record(id) as unknown as Record
  return new Promise((resolve, reject) => {
    const settle = () => {
      clearTimeout(timer)
      unsubscribe()
      resolve(look())
    }
    const timer = setTimeout(settle, withinMs)
    const unsubscribe = storage.changes.subscribe((change) => {
      if (change.id !== id) return
      try {
        if (isWanted(look())) settle()
      } catch (error) {
        clearTimeout(timer)
        unsubscribe()
        reject(error)
      }
    })
    if (isWanted(look())) settle()
  })
}
