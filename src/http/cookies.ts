// The session cookie (section 5 of the API document): one for each port, so that servers which share a host
// name keep a session each.
// Mind: it outlives the session, so that the server alone says when that is over.
import { type Origin, portOf } from './origin.ts'
import type { Request } from './server.ts'

const maxAgeSeconds = 400 * 24 * 60 * 60

/**
 * The secrets of sessions that the request carries. Another server of the same host name can set a cookie of
 * our name beside ours, and before it: none of them is to keep the right one from being found.
 */
export function sessionSecretsOf({ headers }: Pick<Request, 'headers'>, origin: Origin): string[] {
  const start = `${nameFor(origin)}=`
  const cookies = headers.get('cookie')?.split(';') ?? []
  const own = cookies.map((cookie) => cookie.trim()).filter((cookie) => cookie.startsWith(start))
  return own.map((cookie) => cookie.slice(start.length)).filter((secret) => secret !== '')
}

export function sessionCookie(origin: Origin, secret: string): [string, string] {
  return ['Set-Cookie', cookieFor(origin, secret, maxAgeSeconds)]
}

export function clearedCookie(origin: Origin): [string, string] {
  return ['Set-Cookie', cookieFor(origin, '', 0)]
}

function cookieFor(origin: Origin, value: string, ageSeconds: number): string {
  const secure = origin.scheme === 'https' ? '; Secure' : ''
  return `${nameFor(origin)}=${value}; Path=/; Max-Age=${ageSeconds}; HttpOnly; SameSite=Strict${secure}`
}

function nameFor(origin: Origin): string {
  return `svc_session_${portOf(origin)}`
}
