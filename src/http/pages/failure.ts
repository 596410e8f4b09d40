// The page for a failed request in a browser, with the text of the problem response.
import type { Problem } from '../pipeline/problem.ts'
import { html } from './html.ts'
import { pageOf } from './layout.ts'
import { markedUp, toSentence } from './text.ts'

export function failurePage({ title, detail, hint, status, request_id }: Problem): string {
  const body = html`<h1>${title}</h1>
<p>${markedUp(toSentence(detail))}</p>
${hint === undefined ? null : html`<p>${markedUp(toSentence(hint))}</p>`}
<p><a class="button" href="/">Back to the start page</a></p>
<p class="quiet">${status} · <code>${request_id}</code></p>`
  return pageOf({ title, body }).html
}
