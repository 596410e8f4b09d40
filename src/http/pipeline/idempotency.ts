// `Idempotency-Key`: a repeated POST gets the first response and changes nothing, even after a crash: the key
// is the id of the committed event. A stored hash detects a different request with the same key.
import { createHash } from 'node:crypto'
import type { Caller } from '../../account/callers.ts'
import { conflict, invalidRequest } from '../../errors.ts'
import type { Request } from '../server/messages.ts'
import type { HttpContext } from './context.ts'
import { Replayed } from './route.ts'

const keyLimitChars = 200

/** The scope of the request's key; undefined without a key. Throws `invalid_request` for a malformed one. */
export function keyScopeOf({ method, path, headers }: Request, caller: Caller | null): string | undefined {
  const key = method === 'POST' ? headers.get('idempotency-key') : undefined
  if (key === undefined) return undefined
  if (key === '' || key.length > keyLimitChars) {
    throw invalidRequest(`an Idempotency-Key has 1 to ${keyLimitChars} characters`)
  }
  return JSON.stringify([caller?.id ?? null, method, path, key])
}

interface KeyedRequest {
  key: string
  requestHash: string
}

/** `sent` is the body, or the Content-Length of an upload, which a repetition need not send again. */
export function toKeyedRequest(scope: string, query: string, sent: Buffer | number | null): KeyedRequest {
  // The scope salts the hash: the body may contain a secret that could be guessed from a plain hash.
  const prefix = JSON.stringify([scope, query])
  return { key: hashOf(scope), requestHash: hashOf(prefix, Buffer.isBuffer(sent) ? sent : String(sent)) }
}

function hashOf(...parts: (string | Buffer)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}

/** Requests in progress are tracked in memory; finished ones are in the store. */
export function createIdempotency(events: HttpContext['storage']['events']) {
  const inProgress = new Map<string, { requestHash: string; response: Promise<unknown> }>()

  return {
    /**
     * Calls `run` with the event's id once per key; a failed call may be repeated. `toResponse` converts the
     * stored result. Throws `conflict` if a different request used the key.
     */
    async runOnce(
      { key, requestHash }: KeyedRequest,
      run: (eventId: string) => unknown,
      toResponse: (stored: unknown) => unknown = (stored) => stored,
    ): Promise<unknown> {
      const first = inProgress.get(key) ?? storedResponse(key, toResponse)
      if (first) {
        assertSameRequest(first.requestHash, requestHash)
        return new Replayed(await first.response)
      }
      const response = Promise.resolve(run(`${key}#${requestHash}`)).finally(() => inProgress.delete(key))
      inProgress.set(key, { requestHash, response })
      return response
    },
  }

  /** A stored response without a hash of its request is accepted. */
  function storedResponse(key: string, toResponse: (stored: unknown) => unknown) {
    const stored = events.get(key)
    return stored && { requestHash: stored.asked, response: toResponse(stored.body) }
  }
}

function assertSameRequest(first: string | undefined, requestHash: string): void {
  if (first === undefined || first === requestHash) return
  const message = 'this Idempotency-Key was used for another request'
  throw conflict(message, 'use a new key for a new request')
}

export type Idempotency = ReturnType<typeof createIdempotency>
