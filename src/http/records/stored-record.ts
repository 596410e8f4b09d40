// Finds the records of actors, and waits for their commits, so that a response can contain the outcome.
import type { z } from 'zod'
import type { RecordOf } from '../../../storage/actors/actors.ts'
import type { Storage } from '../../../storage/index.ts'
import { waitFor } from '../../async/wait-for.ts'
import { withTimeout } from '../../async/with-timeout.ts'
import { notFound } from '../../errors.ts'

/** Finds records of a kind by id. The result throws `not_found`, for ids of other kinds too. */
export function finder<Kind extends string>(prefix: string, noun: string, hint?: string) {
  return ({ actors }: Pick<Storage, 'actors'>, id: string): RecordOf<Kind> => {
    const record = id.startsWith(`${prefix}-`) ? actors.record<Kind>(id) : null
    if (record && record.status !== 'deleted') return record
    throw notFound(`there is no such ${noun}`, hint)
  }
}

/** The record once `isWanted` accepts it, or the current one after the time limit; null if it is erased. */
export async function awaitRecord<Kind extends string>(
  storage: Storage,
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

/** The fields of the schema only, so no other is exposed by accident. `others` are not in the row. */
export function shownFields<Schema extends z.ZodObject, Row extends object>(
  schema: Schema,
  row: Row,
  others: Omit<z.output<Schema>, keyof Row> & Partial<z.output<Schema>>,
): z.output<Schema> {
  // A loop, because lists call this for each row: `Object.fromEntries` is five times as slow.
  const shown: Record<string, unknown> = {}
  for (const name in schema.shape) {
    const source = (name in others ? others : row) as Record<string, unknown>
    shown[name] = source[name]
  }
  return shown as z.output<Schema>
}
