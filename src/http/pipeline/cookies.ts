// The session and device cookies. Their names contain the port, so that servers on the same host name have
// separate sessions. They outlive the session, so only the server decides when it ends.

import type { Request } from '../server/messages.ts'
import { type Origin, portOf } from './origin.ts'

const maxAgeSeconds = 400 * 24 * 60 * 60

type Kind = 'session' | 'device'

/**
 * All session secrets of the request. Another server on the same host name can set a cookie with the same
 * name, so there may be several, and each must be tried.
 */
export function sessionSecretsOf(request: Pick<Request, 'headers'>, origin: Origin): string[] {
  return valuesOf('session', request, origin)
}

/** The device cookies of the request. They grant no access: they select the limit of sign-in attempts. */
export function devicesOf(request: Pick<Request, 'headers'>, origin: Origin): string[] {
  return valuesOf('device', request, origin)
}

export function sessionCookie(origin: Origin, secret: string): [string, string] {
  return ['Set-Cookie', cookieFor('session', origin, secret, maxAgeSeconds)]
}

export function deviceCookie(origin: Origin, device: string): [string, string] {
  return ['Set-Cookie', cookieFor('device', origin, device, maxAgeSeconds)]
}

/** Clears the session cookie only, so that the browser is still a known device at its next sign-in. */
export function clearedCookie(origin: Origin): [string, string] {
  return ['Set-Cookie', cookieFor('session', origin, '', 0)]
}

function valuesOf(kind: Kind, { headers }: Pick<Request, 'headers'>, origin: Origin): string[] {
  const start = `${nameFor(kind, origin)}=`
  const cookies = headers.get('cookie')?.split(';') ?? []
  const matching = cookies.map((cookie) => cookie.trim()).filter((cookie) => cookie.startsWith(start))
  return matching.map((cookie) => cookie.slice(start.length)).filter((value) => value !== '')
}

function cookieFor(kind: Kind, origin: Origin, value: string, ageSeconds: number): string {
  const secure = origin.scheme === 'https' ? '; Secure' : ''
  const flags = `HttpOnly; SameSite=Strict${secure}`
  return `${nameFor(kind, origin)}=${value}; Path=/; Max-Age=${ageSeconds}; ${flags}`
}

function nameFor(kind: Kind, origin: Origin): string {
  return `svc_${kind}_${portOf(origin)}`
}
