// Pages for signed-in users; others are redirected to the login. Browsers omit the SameSite=Strict cookie
// after a link from another site, so the page then reloads itself, as a request from this site.
import type { Caller } from '../../account/callers.ts'
import { sessionOf } from '../pipeline/auth.ts'
import { ownAddressOf } from '../pipeline/origin.ts'
import type { Call, Page } from '../pipeline/route.ts'
import { html } from './html.ts'
import { pageOf, redirect, withNext } from './layout.ts'

export type SignedInCall<Query = unknown, Body = unknown> = Call<unknown, Query, Body> & { caller: Caller }

/** A query parameter that prevents a second reload. */
const reloadedParam = 'reloaded'

export function forSession<Query, Body>(handle: (call: SignedInCall<Query, Body>) => Page | Promise<Page>) {
  return (call: Call<unknown, Query, Body>): Page | Promise<Page> => {
    const caller = sessionOf(call.context, call.request)
    return caller ? handle({ ...call, caller }) : redirectToLogin(call)
  }
}

function redirectToLogin(call: Pick<Call, 'context' | 'request'>): Page {
  const query = new URLSearchParams(call.request.query)
  const wasReloaded = query.has(reloadedParam)
  query.delete(reloadedParam)
  if (!wasReloaded && call.request.method === 'GET' && isCrossSite(call)) {
    return reloadPage(addressOf(call, [...query, [reloadedParam, '1']]))
  }
  return redirect(withNext('/login', addressOf(call, [...query])))
}

function addressOf({ request }: Pick<Call, 'request'>, query: [string, string][]): string {
  return query.length === 0 ? request.path : `${request.path}?${new URLSearchParams(query)}`
}

/** On plain http, browsers send `Sec-Fetch-Site` to loopback only. Elsewhere a `Referer` decides. */
function isCrossSite({ context, request }: Pick<Call, 'context' | 'request'>): boolean {
  const site = request.headers.get('sec-fetch-site')
  if (site !== undefined) return site === 'cross-site' || site === 'same-site'
  const referrer = request.headers.get('referer')
  return referrer !== undefined && !referrer.startsWith(`${ownAddressOf(context, request)}/`)
}

function reloadPage(address: string): Page {
  const body = html`<p>One moment … <a href="${address}">Continue</a></p>`
  return pageOf({
    title: 'One moment',
    body,
    head: html`<meta http-equiv="refresh" content="0; url=${address}">`,
  })
}
