// The layout of every page. The policy forbids scripts, inline styles, and resources of other origins.
import type { Problem } from '../pipeline/problem.ts'
import { Page } from '../pipeline/route.ts'
import type { HeaderList } from '../server/messages.ts'
import { mark } from './assets.ts'
import { attributesOf, type Html, html } from './html.ts'
import { toSentence } from './text.ts'

/** Leads to the dashboard. */
export const homePath = '/'
export const accountPath = '/account'
export const gitStartPath = '/git/start'
export const manualPath = '/docs'

interface Content {
  title: string
  body: Html
  /** Sets status and headers of a failed request; otherwise the status is 200. */
  formError?: { status: number; headers: HeaderList } | null
  head?: Html | null
  /** Its own path, if the header leads to it or to the pages above it. */
  path?: string
  isSignedIn?: boolean
  /** Replaces the standard Content-Security-Policy. */
  policy?: HeaderList[number]
  /** `wide` is for lists. */
  width?: 'narrow' | 'wide' | 'manual'
}

const links = [
  [accountPath, 'Account'],
  [gitStartPath, 'Git accounts'],
  [manualPath, 'Manual'],
] as const

function headerOf(isSignedIn: boolean, path: string): Html {
  const shown = links.filter(([href]) => isSignedIn || href === manualPath)
  const items = shown.map(([href, label]) => {
    const current = path === href ? 'page' : path.startsWith(`${href}/`) ? 'true' : undefined
    return html`<a ${attributesOf({ href, 'aria-current': current })}>${label}</a>`
  })
  const signOut = html`<form method="post" action="${accountPath}">
<button name="act" value="sign-out" class="plain">Sign out</button></form>`
  return html`<header><a class="brand" href="/">${mark}Berth</a>
<nav aria-label="Pages">${items}</nav>${isSignedIn && signOut}</header>`
}

export function pageOf({
  title,
  body,
  formError,
  head = null,
  path = '',
  isSignedIn = false,
  policy,
  width = 'narrow',
}: Content): Page {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title} – Berth</title>
<link rel="icon" type="image/svg+xml" href="/berth.svg">
<link rel="stylesheet" href="/berth.css">
${head}
</head>
<body class="${width}">
${headerOf(isSignedIn, path)}
<main>
${body}
</main>
</body>
</html>
`
  const headers = [...(formError?.headers ?? []), ...(policy ? [policy] : [])]
  return new Page(formError?.status ?? 200, page.text, headers)
}

/** The theme that the visitor has chosen, on the element that the styles of all pages start from. */
export function withTheme(page: string, cookies: string | undefined): string {
  const theme = /(?:^|; ?)berth_theme=(system|light|dark)(?:;|$)/.exec(cookies ?? '')?.[1]
  return theme ? page.replace('<html ', `<html data-theme="${theme}" `) : page
}

/** `path` must be a path of this server. */
export function redirect(path: string, headers: HeaderList = []): Page {
  return new Page(303, '', [['Location', path], ...headers])
}

/** The path from a link; the home page for anything that could redirect to another site. */
export function ownPath(address: string | undefined): string {
  // Browsers treat a backslash as a slash and skip tabs, so only plain characters are accepted.
  return address !== undefined && /^\/(?![/\\])[!-[\]-~]*$/.test(address) ? address : homePath
}

/** `path?next=…`, or only the path if `next` is the home page, the default. */
export function withNext(path: string, next: string): string {
  return next === homePath ? path : `${path}?${new URLSearchParams({ next })}`
}

export function failurePage({ title, detail, hint, status, request_id }: Problem): string {
  const body = html`<h1>${title}</h1>
<p>${toSentence(detail)}</p>
${hint === undefined ? null : html`<p>${toSentence(hint)}</p>`}
<p><a class="button" href="/">Back to the start page</a></p>
<p class="quiet">${status} · <code>${request_id}</code></p>`
  return pageOf({ title, body }).html
}
