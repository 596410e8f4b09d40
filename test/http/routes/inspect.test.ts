// The WebSocket that reports what actors do to a page of the dashboard.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { InspectMessage } from '../../../src/api/inspect.ts'
import { startWithAccount } from '../../support/http/account.ts'
import { token } from '../../support/http/http-context.ts'
import { startLogin } from '../../support/http/real-actor.ts'
import { connectViewer } from '../../support/supervisor/inspector.ts'
import { eventually } from '../../support/supervisor/supervision.ts'

/** The API with a terminal login, whose actor is real. */
async function openInspected(t: TestContext) {
  const api = await startWithAccount(t)
  const { browser } = api
  const page = { cookie: browser.cookie, 'sec-fetch-site': 'same-origin' }
  const open = (query: string, headers: Record<string, string> = page) =>
    connectViewer(t, `${api.url.replace('http', 'ws')}/api/v1/inspect${query}`, headers)
  return { ...api, insert: () => startLogin(api), open, page }
}

test('a page sees the transitions, ignored events and effects of its actor, and of no other', async (t) => {
  const { browser, context, insert, open } = await openInspected(t)
  const [id, other] = [await insert(), await insert()]
  const viewer = await open(`?actor=${id}`)
  await context.actors.send(other, { type: 'collect' })
  await context.actors.send(id, { type: 'collect' })
  await browser.call('POST', `/auth/cli/${id}/deny`)
  await eventually('the denial', () => viewer.wire().includes('"to":"denied"'))

  const messages = viewer.received as unknown as InspectMessage[]
  const kind = 'terminal-login'
  const common = { actor_id: id, kind, microsteps: [], effect: null }
  const nothing = { event: null, from: null, to: null }
  assert.deepEqual(
    messages.slice(0, 3).map(({ at: _, ...message }) => message),
    [
      { type: 'ignored', ...common, ...nothing, event: 'collect', from: 'pending' },
      {
        type: 'effect',
        ...common,
        ...nothing,
        effect: { name: 'awaitExpiry', outcome: 'aborted', code: null },
      },
      {
        type: 'transition',
        ...common,
        event: 'deny',
        from: 'pending',
        to: 'denied',
        microsteps: [{ event: 'deny', from: 'pending', to: 'denied', guard: null }],
      },
    ],
  )
  assert.doesNotMatch(viewer.wire(), /canary|ACEF|192\.0\.2/)
})

test('only pages of this server with a session may inspect', async (t) => {
  const { open, page, url } = await openInspected(t)
  const refusals: [Record<string, string>, number][] = [
    [{}, 401],
    [{ authorization: `Bearer ${token}` }, 403],
    [{ ...page, 'sec-fetch-site': 'cross-site' }, 403],
    [{ cookie: page.cookie, origin: 'http://evil.example' }, 403],
  ]
  for (const [headers, status] of refusals)
    await assert.rejects(open('', headers), { message: `refused with ${status}` })
  await assert.rejects(open('?kind=deploy'), { message: 'refused with 400' })
  await open('', { cookie: page.cookie, origin: url })
})

test('a page that sends something, or stops reading, is disconnected', async (t) => {
  const { context, insert, open } = await openInspected(t)
  const id = await insert()
  const talking = await open('')
  talking.socket.send('{}')
  assert.equal(await talking.closed, 1008)

  const stalled = await open('')
  stalled.socket.pause()
  const long = { type: 'x'.repeat(64 * 1024) }
  for (let count = 0; count < 400; count++) await context.actors.send(id, long)
  stalled.socket.resume()
  assert.equal(await stalled.closed, 1008)
  assert.ok(stalled.received.length < 400)
})
