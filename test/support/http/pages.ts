// Requests pages like a browser. Every page is checked against the rules that all of them follow.
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { startApi } from './http-context.ts'
import { type SessionHeaders, signUp } from './session.ts'

export interface ShownPage {
  status: number
  headers: Headers
  /** The target of a redirect. */
  location: string | null
  html: string
  /** The visible text in one line. */
  text: string
}

type Sent = Record<string, string>

/** The headers that a browser sends with forms of this server. */
export const ownForm = { 'sec-fetch-site': 'same-origin' }

export async function startPages(t: TestContext) {
  const api = await startApi(t)
  const ask = (path: string, init: RequestInit) => openPage(`${api.url}${path}`, init)
  return {
    ...api,
    get: (path: string, headers: Sent = {}) => ask(path, { headers }),
    post: (path: string, fields: Sent, headers: Sent = ownForm) =>
      ask(path, { method: 'POST', body: new URLSearchParams(fields), headers }),
    ask,
    setupCode: () => api.storage.setupCode.ensure(),
    async signUp(): Promise<SessionHeaders> {
      api.storage.setupCode.ensure()
      return signUp(api.url, api.storage.directory)
    },
  }
}

export type Pages = Awaited<ReturnType<typeof startPages>>

/** The Cookie header for the next request. */
export function cookieOf({ headers }: ShownPage): { cookie: string; 'sec-fetch-site': string } {
  const [cookie] = headers.getSetCookie()
  assert.ok(cookie, 'a cookie is set')
  return { cookie: cookie.split(';')[0]!, ...ownForm }
}

async function openPage(url: string, { headers = {}, ...init }: RequestInit): Promise<ShownPage> {
  const accepting = { accept: 'text/html,application/xhtml+xml', ...(headers as Sent) }
  const response = await fetch(url, { ...init, headers: accepting, redirect: 'manual' })
  const html = await response.text()
  const page = { status: response.status, headers: response.headers, html, text: textOf(html) }
  if (page.status !== 303) checkPage(page)
  return { ...page, location: response.headers.get('location') }
}

const policy =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; " +
  "base-uri 'none'; frame-ancestors 'none'"

function checkPage({ headers, html }: Pick<ShownPage, 'headers' | 'html'>): void {
  assert.equal(headers.get('content-type'), 'text/html; charset=utf-8')
  assert.equal(headers.get('content-security-policy'), policy)
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.match(html, /^<!doctype html>\n<html lang="en">\n/)
  assert.match(html, /<meta name="viewport" content="width=device-width, initial-scale=1">/)
  assert.match(html, /<title>[^<]+ – Berth<\/title>/)
  const tags = html.replace(/"[^"]*"/g, '""')
  assert.doesNotMatch(tags, /<(script|iframe|object|embed|base|style)\b|<[^>]* (style|on\w+)=/i)
  assert.doesNotMatch(html, /\b(href|src|action|url)=(?!"?\/(?!\/))/i, 'something leads outside')
}

function textOf(html: string): string {
  const [, body = ''] = html.split('<main>')
  const text = body.replace(/<[^>]*>/g, ' ').replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code))
  return text.replace(/\s+/g, ' ').trim()
}
