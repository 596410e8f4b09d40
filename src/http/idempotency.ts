// `Idempotency-Key`: a repeated POST gets the first answer and changes nothing (decisions "Conventions").
// Mind: the key travels on as the event's id: a crash between change and answer repeats nothing either.
import { createHash } from 'node:crypto'
import { Failure } from '../errors.ts'
import type { Credential } from './auth.ts'
import type { HttpContext } from './context.ts'
import type { Request } from './server.ts'

const keyLimitChars = 200

/** The event's id for a request, undefined without a key. Throws `invalid_request` for a bad key. */
export function eventIdOf(
  { method, path, headers }: Request,
  credential: Credential | null,
): string | undefined {
  const key = method === 'POST' ? headers.get('idempotency-key') : undefined
  if (key === undefined) return undefined
  if (key === '' || key.length > keyLimitChars) {
    throw new Failure('invalid_request', `an Idempotency-Key has 1 to ${keyLimitChars} characters`)
  }
  const scope = JSON.stringify([credential?.id ?? null, method, path, key])
  return createHash('sha256').update(scope).digest('hex')
}

/** Remembers the requests under way; what is done, the store remembers. */
export function createIdempotency(events: HttpContext['storage']['events']) {
  const underWay = new Map<string, Promise<unknown>>()

  return {
    /** Runs `act` once for an id, however often it is asked. A failed act may be asked for again. */
    once(eventId: string, act: () => unknown): Promise<unknown> {
      const first = underWay.get(eventId)
      if (first) return first
      const acting = start(eventId, act).finally(() => underWay.delete(eventId))
      underWay.set(eventId, acting)
      return acting
    },
  }

  async function start(eventId: string, act: () => unknown): Promise<unknown> {
    const stored = events.get(eventId)
    return stored ? stored.body : act()
  }
}

export type Idempotency = ReturnType<typeof createIdempotency>
