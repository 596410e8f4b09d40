// The change feed as an event stream, over a real store and real sockets.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type FeedChange, FeedEvents } from '../../../src/api/feed.ts'
import { startWithAccount } from '../../support/http/account.ts'
import { openStream } from '../../support/http/event-stream.ts'
import { type Api, startApi } from '../../support/http/http-context.ts'
import { owner } from '../../support/http/session.ts'
import { instant as at } from '../../support/supervisor/supervision.ts'

const change = (api: Api, name: string) => api.call('POST', '/api/v1/services', { body: { name } })

test('the change feed sends ready, then the changes of every commit, and nothing else', async (t) => {
  const api = await startApi(t)
  const stream = await openStream(t, `${api.url}/api/v1/events`)
  const head = api.storage.changes.head()

  const ready = (await stream.next())!
  assert.deepEqual([ready.id, ready.event], [String(head), 'ready'])
  const { now, ...server } = JSON.parse(ready.data)
  assert.deepEqual(server, { version: '0.0.0-test', build: null })
  assert.ok(Math.abs(Date.parse(now) - Date.now()) < 60_000, now)
  const { body } = await change(api, 'web')
  const { id, event, data } = (await stream.next())!

  assert.deepEqual([id, event], [String(head + 1), 'change'])
  const { id: serviceId } = body
  assert.deepEqual(JSON.parse(data), {
    kind: 'service',
    id: serviceId,
    service_id: serviceId,
    status: 'not_deployed',
    revision: 1,
    transition: null,
  })
})

test('the change of an actor carries its transition, as the history has it', async (t) => {
  const api = await startApi(t)
  const { next } = await openFeed(t, api)
  await api.call('POST', '/api/v1/services', { body: { name: 'web', image: 'busybox' } })
  const { id, service_id, revision, transition } = await nextChange(next, 'deploy')

  const [entry] = Object.values((await api.call('GET', `/api/v1/deploys/${id}/history`)).body)
  assert.deepEqual(transition, { actor_id: id, kind: 'deploy', ...(entry as object) })
  assert.deepEqual([transition?.event, transition?.boot, revision], ['test', 1, transition?.revision])

  await api.storage.actors.park(id, 'a bug', at)
  const parked = await nextChange(next, 'deploy')
  assert.deepEqual([parked.id, parked.service_id, parked.status], [id, service_id, 'failed'])
  assert.deepEqual([parked.transition?.event, parked.transition?.state], ['parked', 'parked'])
})

test('a token that is limited to services sees only its own name in the feed', async (t) => {
  const api = await startApi(t)
  const [service, other] = (await Promise.all([change(api, 'web'), change(api, 'other')])).map(
    ({ body }) => body as { id: string },
  ) as [{ id: string }, { id: string }]
  const token = { id: 'tok-r', name: 'ci', role: 'read' as const, services: [service.id], hint: 'hint' }
  const row = { ...token, expires_at: null, created_at: at, last_used_at: at }
  await api.storage.commit((commit) => api.storage.tokens.insert(commit, 'bth_limited', row))
  const { next } = await openFeed(t, api, { authorization: 'Bearer bth_limited' })

  for (const { id } of [other, service])
    await api.call('PATCH', `/api/v1/services/${id}`, { body: { image: 'busybox' } })
  for (const { id } of [other, service])
    await api.call('POST', `/api/v1/services/${id}/deploys`, { body: {} })

  const { service_id, transition } = await nextChange(next, 'deploy')
  assert.deepEqual([service_id, transition?.by], [service.id, { kind: 'token', id: null, name: null }])
})

test('the change feed resumes after Last-Event-ID, and resets if that is unknown', async (t) => {
  const api = await startApi(t)
  const start = api.storage.changes.head()
  for (const name of ['a', 'b', 'c']) await change(api, name)

  const resumed = await openStream(t, `${api.url}/api/v1/events`, { 'last-event-id': String(start + 1) })
  const events = [await resumed.next(), await resumed.next(), await resumed.next()]
  assert.deepEqual(
    events.map((event) => [event?.event, event?.id]),
    [
      ['ready', String(start + 1)],
      ['change', String(start + 2)],
      ['change', String(start + 3)],
    ],
  )

  const lost = await openStream(t, `${api.url}/api/v1/events`, { 'last-event-id': '99999' })
  await lost.next()
  assert.deepEqual(await lost.next(), { id: String(start + 3), event: 'reset', data: '{}' })
  await change(api, 'd')
  assert.equal((await lost.next())?.id, String(start + 4))
})

test('the feed shows a service as GET does, also when its state derives from a deploy', async (t) => {
  const api = await startApi(t)
  const { next } = await openFeed(t, api)
  const body = { name: 'web', image: 'busybox' }
  const service = (await api.call('POST', '/api/v1/services', { body })).body
  const { id, latest_deploy: deploy } = service as { id: string; latest_deploy: { id: string } }
  const seen: [string | null, number][] = []
  for (const status of ['queued', 'running', 'failed', 'live'] as const) {
    if (status !== 'queued') await api.setDeploy(deploy.id, { status })
    // The start of the deploy does not change the service.
    const reported = status === 'running' ? null : await nextChange(next, 'service')
    const { body: shown } = await api.call('GET', `/api/v1/services/${id}`)
    if (!reported) continue
    assert.deepEqual([reported.status, reported.revision], [shown.state, shown.revision])
    seen.push([reported.status, reported.revision!])
  }

  assert.deepEqual(
    seen.map(([status]) => status),
    ['deploying', 'failed', 'live'],
  )
  assert.ok(
    seen.every(([, revision], index) => index === 0 || revision > seen[index - 1]![1]),
    'the revision rises',
  )
})

test('changes of env, registries, tokens, sessions and the password are in the feed', async (t) => {
  const api = await startWithAccount(t)
  const { next } = await openFeed(t, api)
  const { id } = (await change(api, 'web')).body as { id: string }
  await next()
  const reported = async (kind: string) => {
    const { id, service_id, status, revision } = await nextChange(next, kind)
    return [id, service_id, status, revision]
  }
  const done = ({ status, text }: { status: number; text: string }) => assert.ok(status < 300, text)

  done(
    await api.call('PATCH', '/api/v1/services/web/env', { body: { set: [{ key: 'KEY', value: 'canary' }] } }),
  )
  assert.deepEqual(await reported('env'), [id, id, null, null])
  done(await api.call('PUT', '/api/v1/registries/ghcr.io', { body: { username: 'ada', password: 'canary' } }))
  assert.deepEqual(await reported('registry'), ['ghcr.io', null, null, null])
  done(await api.call('DELETE', '/api/v1/registries/ghcr.io'))
  assert.deepEqual(await reported('registry'), ['ghcr.io', null, 'deleted', null])
  const { body } = await api.browser.call('POST', '/auth/tokens', { name: 'ci' })
  const { id: token } = (body as { api_token: { id: string } }).api_token
  assert.deepEqual(await reported('token'), [token, null, null, null])
  await api.browser.call('DELETE', `/auth/tokens/${token}`)
  assert.deepEqual(await reported('token'), [token, null, 'deleted', null])
  await api.signedIn()
  const [session] = await reported('session')
  assert.match(String(session), /^ses-/)
  const passwords = { current_password: owner.password, new_password: 'correct horse battery' }
  await api.browser.call('POST', '/auth/password', passwords)
  assert.deepEqual(await reported('account'), ['usr-1', null, null, null])
  assert.deepEqual(await reported('session'), [session, null, 'deleted', null])
})

test('cron schedules and service removals appear in the feed under their API names', async (t) => {
  const api = await startApi(t)
  const { next } = await openFeed(t, api)
  const cron = { name: 'nightly', type: 'cron_job', schedule: '0 3 * * *', start_command: 'true' }
  const { id } = (await api.call('POST', '/api/v1/services', { body: cron })).body as { id: string }
  await next()
  const entry = { at, event: 'created', state: 'removing', status: 'removing', phase: null, by: null }
  const moved = { actor_id: id, kind: 'service-removal', ...entry, revision: 3, boot: 1 }
  await api.storage.commit((commit) => {
    const shared = { service_id: id, revision: 3 }
    commit.announce({ kind: 'cron-schedule', id: 'sch-1', status: 'paused', ...shared })
    commit.announce({ kind: 'service-removal', id, status: 'removing', transition: moved, ...shared })
  })

  const { body } = await api.call('GET', '/api/v1/services/nightly/schedule')
  const schedule = {
    kind: 'schedule',
    id,
    service_id: id,
    status: body.status,
    revision: 3,
    transition: null,
  }
  assert.deepEqual(await next(), schedule)
  const shown = { status: 'not_deployed', revision: 1, transition: moved }
  const service = { kind: 'service', id, service_id: id, ...shown }
  assert.deepEqual(await next(), service)
})

/** The changes from now on, each checked against its schema. */
async function openFeed(t: TestContext, api: Pick<Api, 'url'>, headers: Record<string, string> = {}) {
  const stream = await openStream(t, `${api.url}/api/v1/events`, headers)
  const next = async (): Promise<FeedChange> => {
    const { id, event, data } = (await stream.next())!
    const known = FeedEvents.parse({ id, event, data: JSON.parse(data) })
    return known.event === 'change' ? known.data : next()
  }
  return { next }
}

async function nextChange(next: () => Promise<FeedChange>, kind: string): Promise<FeedChange> {
  for (;;) {
    const found = await next()
    if (found.kind === kind) return found
  }
}

test('a read token receives no changes of sessions, tokens and the account', async (t) => {
  const api = await startApi(t)
  const token = { id: 'tok-r', name: 'metrics', role: 'read' as const, services: null, hint: 'hint' }
  const row = { ...token, expires_at: null, created_at: at, last_used_at: at }
  await api.storage.commit((commit) => api.storage.tokens.insert(commit, 'bth_reader', row))
  const { next } = await openFeed(t, api, { authorization: 'Bearer bth_reader' })

  await api.storage.commit((commit) => {
    for (const kind of ['session', 'token', 'account']) {
      commit.announce({ kind, id: 'x', service_id: null, status: null, revision: null })
    }
  })
  await change(api, 'web')

  assert.equal((await next()).kind, 'service')
})
