// Receipts: they report the outcome of an event to its sender, after the commit.
import type { EventObject } from 'xstate'
import type { RecordOf } from '../../storage/actors/actors.ts'

export interface Receipt<Kind extends string = string> {
  applied: boolean
  record: RecordOf<Kind>
}

interface Waiting {
  eventId: string | null
  resolve: (receipt: Receipt) => void
  reject: (error: unknown) => void
}

export type Receipts = ReturnType<typeof createReceipts>

/** Keyed by the event object itself, which XState passes through unchanged. */
export function createReceipts() {
  const waiting = new Map<EventObject, Waiting>()

  function take(event: EventObject): Waiting | undefined {
    const waiter = waiting.get(event)
    waiting.delete(event)
    return waiter
  }

  return {
    expect: (event: EventObject, eventId: string | null) =>
      new Promise<Receipt>((resolve, reject) => waiting.set(event, { eventId, resolve, reject })),
    eventIdOf: (event: EventObject): string | null => waiting.get(event)?.eventId ?? null,
    settle: (event: EventObject, receipt: Receipt) => take(event)?.resolve(receipt),
    fail: (event: EventObject, error: unknown) => take(event)?.reject(error),
    failAll(error: unknown): void {
      for (const event of [...waiting.keys()]) take(event)?.reject(error)
    },
  }
}
