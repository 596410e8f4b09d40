// Requests of one kind rest while their provider limits them: otherwise they would prolong the limit.
import { RetryLater } from '../../errors.ts'

interface Limit {
  error: RetryLater
  untilMs: number
}

const limits = new Map<string, Limit>()

/** Throws `RetryLater` without a request as long as an earlier one was limited. */
export async function withinLimit<T>(kind: string, work: () => Promise<T>): Promise<T> {
  const { error, untilMs = 0 } = limits.get(kind) ?? {}
  const leftMs = untilMs - Date.now()
  if (error && leftMs > 0) throw new RetryLater(error.code, error.message, Math.ceil(leftMs / 1000))
  limits.delete(kind)
  try {
    return await work()
  } catch (error) {
    if (error instanceof RetryLater)
      limits.set(kind, { error, untilMs: Date.now() + error.retryAfterSeconds * 1000 })
    throw error
  }
}
