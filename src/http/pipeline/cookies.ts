// The session and device cookies. Their names contain the port, so that servers on the same host name have
// separate sessions. They outlive the session, so only the server decides when it ends.
import type { Request } from '../server/messages.ts'
import { type Origin, portOf } from './origin.ts'

const maxAgeSeconds = 400 * 24 * 60 * 60

type Kind = 'session' | 'device'

/**
 * Another server on the same host name can set a cookie of this name, so each of several must be tried. A
 * device cookie grants no access: it selects the limit of sign-in attempts.
 */
export function cookiesOf(kind: Kind, { headers }: Pick<Request, 'headers'>, origin: Origin): string[] {
  const start = `${nameFor(kind, origin)}=`
  const cookies = headers.get('cookie')?.split(';') ?? []
  const matching = cookies.map((cookie) => cookie.trim()).filter((cookie) => cookie.startsWith(start))
  return matching.map((cookie) => cookie.slice(start.length)).filter((value) => value !== '')
}

/** Sets the cookie; null clears it. */
export function setCookie(kind: Kind, origin: Origin, value: string | null): [string, string] {
  const ageSeconds = value === null ? 0 : maxAgeSeconds
  const secure = origin.scheme === 'https' ? '; Secure' : ''
  const attributes = `Path=/; Max-Age=${ageSeconds}; HttpOnly; SameSite=Strict${secure}`
  return ['Set-Cookie', `${nameFor(kind, origin)}=${value ?? ''}; ${attributes}`]
}

function nameFor(kind: Kind, origin: Origin): string {
  return `svc_${kind}_${portOf(origin)}`
}
