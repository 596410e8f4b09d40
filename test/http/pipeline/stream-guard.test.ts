// Open event streams end when their credential ends, and no other stream does.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type AccountApi, startWithAccount } from '../../support/http/account.ts'
import type { Browser } from '../../support/http/browser.ts'
import { openStream, type Reader } from '../../support/http/event-stream.ts'
import { owner } from '../../support/http/session.ts'

const timeoutMs = 20_000

/** Fails when the server goes on with it. */
async function ended(reader: Reader): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('the stream continues')), timeoutMs)
  })
  await Promise.race([reader.rest(), late])
  clearTimeout(timer)
}

/** Every sort of stream there is. */
async function openAll(t: TestContext, { url, call }: AccountApi, headers: Record<string, string>) {
  const name = `web-${Math.random().toString(36).slice(2, 8)}`
  await call('POST', '/api/v1/services', { body: { name, repo_url: 'https://example.com/web.git' } })
  const { body } = await call('GET', `/api/v1/services/${name}/deploys`)
  const [{ id }] = body as unknown as [{ id: string }]
  const paths = ['/events', `/deploys/${id}/logs?follow=true`, `/services/${name}/logs?follow=true`]
  return Promise.all(paths.map((path) => openStream(t, `${url}/api/v1${path}`, headers)))
}

const asBrowser = ({ cookie }: Browser) => ({ cookie, authorization: 'Session' })
const asToken = (token: string) => ({ authorization: `Bearer ${token}` })
const idOf = ({ storage }: AccountApi, { jar }: Browser) =>
  storage.sessions.bySecret([...jar.values()][0]!)!.id

/** The change feeds of a browser and of the server's token: others, which must go on. */
async function openOthers(t: TestContext, { url, browser }: AccountApi) {
  const path = `${url}/api/v1/events`
  const feeds = [await openStream(t, path, asBrowser(browser)), await openStream(t, path)]
  for (const feed of feeds) assert.equal((await feed.next())?.event, 'ready')
  return feeds
}

async function resume({ call }: AccountApi, feeds: Reader[]): Promise<void> {
  const { body } = await call('POST', '/api/v1/services', { body: { name: 'still-here' } })
  for (const feed of feeds) {
    for (let event = await feed.next(); ; event = await feed.next()) {
      assert.ok(event, 'the stream of another has ended')
      if (event.data.includes(String(body.id))) break
    }
  }
}

const ends: Record<string, (api: AccountApi, other: Browser) => Promise<unknown>> = {
  'another browser sets a new password': ({ browser }) =>
    browser.call('POST', '/auth/password', { current_password: owner.password, new_password: 'a new one' }),
  'another browser ends it': (api, other) => api.browser.call('DELETE', `/auth/sessions/${idOf(api, other)}`),
  'another browser ends all others': (api) => api.browser.call('DELETE', '/auth/sessions'),
  'the browser itself ends it': (api, other) => other.call('DELETE', `/auth/sessions/${idOf(api, other)}`),
  'the browser signs out': (_, other) => other.call('POST', '/auth/logout'),
}

/** Ends that cause no event, so the server must poll for them. */
const unsaid: typeof ends = {
  'another process ends it': (api, other) => api.storage.sessions.remove(idOf(api, other)),
  'it ends by itself': async (api, other) => {
    const row = api.storage.sessions.byId(idOf(api, other))!
    const over = { ...row, last_used_at: '2020-01-01T00:00:00.000Z' }
    await api.storage.commit((commit) =>
      api.storage.sessions.insert(commit, [...other.jar.values()][0]!, over),
    )
  },
}

for (const [what, end] of Object.entries({ ...ends, ...unsaid })) {
  test(`the streams of a session end when ${what}, and no others`, async (t) => {
    // At once means: without the look that the server takes every now and then.
    if (what in ends) t.mock.timers.enable({ apis: ['setInterval'] })
    const api = await startWithAccount(t)
    const other = await api.signedIn()
    const feeds = await openOthers(t, api)
    const streams = await openAll(t, api, asBrowser(other))
    assert.deepEqual(
      streams.map(({ response }) => response.status),
      [200, 200, 200],
    )

    await end(api, other)

    await Promise.all(streams.map(ended))
    await resume(api, feeds)
  })
}

test('the streams of a token end when it is revoked, and those of other tokens do not', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const api = await startWithAccount(t)
  const create = async (name: string) => (await api.browser.call('POST', '/auth/tokens', { name })).body
  const [revoked, kept] = [await create('revoked'), await create('kept')]
  const feeds = await openOthers(t, api)
  feeds.push(await openStream(t, `${api.url}/api/v1/events`, asToken(kept.token)))
  const inQuery = `${api.url}/api/v1/events?access_token=${revoked.token}`
  const streams = [
    ...(await openAll(t, api, asToken(revoked.token))),
    await openStream(t, inQuery, { authorization: 'None' }),
  ]

  await api.browser.call('DELETE', `/auth/tokens/${revoked.api_token.id}`)

  await Promise.all(streams.map(ended))
  await resume(api, feeds)
})

test('the streams of a token end when it expires', async (t) => {
  const api = await startWithAccount(t)
  const { api_token, token } = (await api.browser.call('POST', '/auth/tokens', { name: 'ci' })).body
  const row = api.storage.tokens.byId(api_token.id)!
  const feeds = await openOthers(t, api)
  const streams = await openAll(t, api, asToken(token))

  const expired = { ...row, expires_at: new Date(Date.now() + 500).toISOString() }
  await api.storage.commit((commit) => api.storage.tokens.insert(commit, token, expired))

  await Promise.all(streams.map(ended))
  await resume(api, feeds)
})
