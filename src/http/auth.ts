// Who asks, and whether the request came to the right house. Synchronous, so that a GET need not wait.
// Mind: a credential in the header decides; a wrong one is 401 even beside a good `access_token`.
import { Failure } from '../errors.ts'
import type { HttpContext } from './context.ts'
import type { Request } from './server.ts'

export interface Credential {
  kind: 'token'
  /** Tells credentials apart without telling the secret. */
  id: string
}

/** The credential of a request. Throws `unauthorized`. */
export function authenticate(context: HttpContext, request: Request, query: URLSearchParams): Credential {
  const secret = secretOf(request, query)
  if (secret === null) {
    throw new Failure(
      'unauthorized',
      'this needs a credential',
      'send the header Authorization: Bearer <token>',
    )
  }
  if (!context.isServerToken(secret)) throw new Failure('unauthorized', 'this credential is not valid')
  return { kind: 'token', id: 'server' }
}

function secretOf({ method, headers }: Request, query: URLSearchParams): string | null {
  const header = headers.get('authorization')
  if (header !== undefined) return /^bearer +(\S+)$/i.exec(header)?.[1] ?? ''
  return method === 'GET' || method === 'HEAD' ? query.get('access_token') : null
}

/** Refuses a Host that is not this server's, or any web page could speak to it (DNS rebinding). */
export function checkHost(context: HttpContext, request: Request): void {
  if (context.allowedHosts(request.headers.get('host') ?? '')) return
  throw new Failure(
    'invalid_request',
    'this server does not answer for the host of this request',
    'use the address it listens on, or name the host with --dashboard-host',
  )
}
