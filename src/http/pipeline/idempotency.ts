// `Idempotency-Key`: a repeated POST gets the first response and changes nothing. The key is also the id of
// the event, so a crash between the change and the response repeats nothing either. A hash of the request is
// stored with it: a different request with a used key must not get that response.
import { createHash } from 'node:crypto'
import type { Caller } from '../../account/callers.ts'
import { Failure } from '../../errors.ts'
import type { Request } from '../server/messages.ts'
import type { HttpContext } from './context.ts'
import { Repeated } from './route.ts'

const keyLimitChars = 200

/** What the key of a request belongs to, undefined without a key. Throws `invalid_request` for a bad one. */
export function keyScopeOf({ method, path, headers }: Request, caller: Caller | null): string | undefined {
  const key = method === 'POST' ? headers.get('idempotency-key') : undefined
  if (key === undefined) return undefined
  if (key === '' || key.length > keyLimitChars) {
    throw new Failure('invalid_request', `an Idempotency-Key has 1 to ${keyLimitChars} characters`)
  }
  return JSON.stringify([caller?.id ?? null, method, path, key])
}

/** A request that can be repeated, in hashes. */
interface Repeatable {
  key: string
  asked: string
}

/** `sent` is the body, or the length of an upload: a repetition need not send it to the end. */
export function repeatable(scope: string, query: string, sent: Buffer | number | null): Repeatable {
  // The key is part of both: what was sent may hold a secret, which its hash alone would give to a guess.
  const before = JSON.stringify([scope, query])
  return { key: hashOf(scope), asked: hashOf(before, Buffer.isBuffer(sent) ? sent : String(sent)) }
}

function hashOf(...parts: (string | Buffer)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}

/** Keeps requests in progress in memory; the store has the finished ones. */
export function createIdempotency(events: HttpContext['storage']['events']) {
  const underWay = new Map<string, { asked: string; answer: Promise<unknown> }>()

  return {
    /**
     * Runs `act`, which gets the event's id, once per key, however often it is requested. A failed act may be
     * repeated. `show` builds the response from the stored result. Throws `conflict` if a different request
     * used the key.
     */
    async once(
      { key, asked }: Repeatable,
      act: (eventId: string) => unknown,
      show: (stored: unknown) => unknown = (stored) => stored,
    ): Promise<unknown> {
      const first = underWay.get(key) ?? storedAt(key, show)
      if (first) {
        refuseOther(first.asked, asked)
        return new Repeated(await first.answer)
      }
      const answer = Promise.resolve(act(`${key}#${asked}`)).finally(() => underWay.delete(key))
      underWay.set(key, { asked, answer })
      return answer
    },
  }

  /** A stored response without a hash of its request is accepted. */
  function storedAt(key: string, show: (stored: unknown) => unknown) {
    const stored = events.get(key)
    return stored && { asked: stored.asked, answer: show(stored.body) }
  }
}

function refuseOther(first: string | undefined, asked: string): void {
  if (first === undefined || first === asked) return
  const message = 'this Idempotency-Key was used for another request'
  throw new Failure('conflict', message, 'use a new key for a new request')
}

export type Idempotency = ReturnType<typeof createIdempotency>
