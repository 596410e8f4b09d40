// The session cookie: one per port, so that servers that share a host name have separate sessions. It
// outlives the session, so only the server decides when the session ends.

import type { Request } from '../server/messages.ts'
import { type Origin, portOf } from './origin.ts'

const maxAgeSeconds = 400 * 24 * 60 * 60

type Kind = 'session' | 'device'

/**
 * The session secrets that the request carries. Another server on the same host name can set a cookie with
 * the same name, also before this one. All of them are tried, so that the valid one is found.
 */
export function sessionSecretsOf(request: Pick<Request, 'headers'>, origin: Origin): string[] {
  return valuesOf('session', request, origin)
}

/** The device cookies of the request. They grant no access: they choose the limit of a sign-in. */
export function devicesOf(request: Pick<Request, 'headers'>, origin: Origin): string[] {
  return valuesOf('device', request, origin)
}

export function sessionCookie(origin: Origin, secret: string): [string, string] {
  return ['Set-Cookie', cookieFor('session', origin, secret, maxAgeSeconds)]
}

export function deviceCookie(origin: Origin, device: string): [string, string] {
  return ['Set-Cookie', cookieFor('device', origin, device, maxAgeSeconds)]
}

/** The device cookie stays: a browser that signs out is still known at its next sign-in. */
export function clearedCookie(origin: Origin): [string, string] {
  return ['Set-Cookie', cookieFor('session', origin, '', 0)]
}

function valuesOf(kind: Kind, { headers }: Pick<Request, 'headers'>, origin: Origin): string[] {
  const start = `${nameFor(kind, origin)}=`
  const cookies = headers.get('cookie')?.split(';') ?? []
  const own = cookies.map((cookie) => cookie.trim()).filter((cookie) => cookie.startsWith(start))
  return own.map((cookie) => cookie.slice(start.length)).filter((value) => value !== '')
}

function cookieFor(kind: Kind, origin: Origin, value: string, ageSeconds: number): string {
  const secure = origin.scheme === 'https' ? '; Secure' : ''
  const flags = `HttpOnly; SameSite=Strict${secure}`
  return `${nameFor(kind, origin)}=${value}; Path=/; Max-Age=${ageSeconds}; ${flags}`
}

function nameFor(kind: Kind, origin: Origin): string {
  return `svc_${kind}_${portOf(origin)}`
}
