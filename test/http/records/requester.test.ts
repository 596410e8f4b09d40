// Who asked: records and histories name the session, token or terminal, as it was called then.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { command, describeRequester, requesterOf } from '../../../src/http/records/requester.ts'
import type { TokenRow } from '../../../storage/access/hashed-tokens.ts'
import { type Api, startApi } from '../../support/http/http-context.ts'
import { transitionOf } from '../../support/storage/store-fixtures.ts'

interface Shown {
  by?: unknown
  latest_deploy?: Shown
  0?: Shown
}

const at = '2026-01-01T00:00:00.000Z'

async function addToken(api: Api, id: string, fields: Partial<TokenRow>): Promise<string> {
  const secret = `bth_${id}`
  const grant = { role: 'admin' as const, services: null, hint: 'hint', expires_at: null }
  const row = { id, name: id, ...grant, created_at: at, last_used_at: at, ...fields }
  await api.storage.commit((commit) => api.storage.tokens.insert(commit, secret, row))
  return secret
}

test('a deploy names the token that requested it, and the one that canceled it', async (t) => {
  const api = await startApi(t)
  const [ci, laptop] = [
    await addToken(api, 'tok-ci', { name: 'ci' }),
    await addToken(api, 'tok-l', { name: 'laptop', terminal: true }),
  ]
  const image = { name: 'web', image: 'docker.io/library/nginx', deploy: true }
  const { body } = await api.call('POST', '/api/v1/services', { body: image, token: ci })
  const deploy = body.latest_deploy as { id: string; by: unknown; revision: number }
  assert.deepEqual([deploy.by, deploy.revision], [{ kind: 'token', id: 'tok-ci', name: 'ci' }, 1])

  const canceled = await api.call('POST', `/api/v1/deploys/${deploy.id}/cancel`, { token: laptop })

  assert.equal(canceled.body.error, 'canceled by a terminal')
  await api.storage.tokens.remove('tok-ci')
  const { body: after } = await api.call('GET', `/api/v1/deploys/${deploy.id}`)
  assert.deepEqual([after.by, after.revision], [deploy.by, 2], 'the name outlives the token')
})

test('the server token, sessions and unknown tokens have names too', async (t) => {
  const api = await startApi(t)
  const context = api.context
  const rights = { role: 'admin' as const, services: null }
  const of = (kind: 'session' | 'token', id: string) =>
    requesterOf({ context, caller: { kind, id, ...rights } })
  assert.deepEqual(
    [of('token', 'server'), of('session', 'ses-1'), of('token', 'tok-gone')].map(describeRequester),
    ['the server token', 'the administrator', 'a token'],
  )
  assert.deepEqual(of('session', 'ses-1').name, null, 'an e-mail address is for sessions only')
})

test('a name chosen by a terminal is bounded and contains no control characters', async (t) => {
  const api = await startApi(t)
  await addToken(api, 'tok-evil', { name: `\u202e\u001b[31m${'x'.repeat(200)}`, terminal: true })
  const caller = { kind: 'token', id: 'tok-evil', role: 'admin', services: null } as const

  const event = command({ context: api.context, caller }, 'cancel')

  assert.equal(event.asker.name?.length, 100)
  assert.match(event.asker.name!, /^\?\?\[31mx+$/)
})

test('a token limited to services sees its own name, and only the kind of other callers', async (t) => {
  const api = await startApi(t)
  const ci = await addToken(api, 'tok-ci', { name: 'ci' })
  const image = { name: 'web', image: 'docker.io/library/nginx', deploy: true }
  const { body } = await api.call('POST', '/api/v1/services', { body: image, token: ci })
  const service = body as { id: string; latest_deploy: { id: string } }
  const limited = { role: 'deploy' as const, services: [service.id] }
  const own = await addToken(api, 'tok-own', { name: 'own', ...limited })
  const deploy = `/api/v1/deploys/${service.latest_deploy.id}`
  const byIn = async (path: string, token: string, of: (body: Shown) => Shown | undefined) =>
    of((await api.call('GET', path, { token })).body as Shown)?.by
  const hidden = { kind: 'token', id: null, name: null }

  assert.deepEqual(await byIn(deploy, own, (body) => body), hidden)
  assert.deepEqual(await byIn('/api/v1/services/web', own, (body) => body.latest_deploy), hidden)
  const named = { kind: 'token', id: 'tok-ci', name: 'ci' }
  assert.deepEqual(await byIn(deploy, ci, (body) => body), named)

  const canceled = await api.call('POST', `${deploy}/cancel`, { token: own })
  assert.deepEqual(canceled.body.by, hidden, 'also in the answer to a change')
  assert.equal(canceled.body.error, 'canceled by a token')

  for (const id of ['tok-ci', 'tok-own']) {
    const base = transitionOf({ id: `dep-${id}`, service_id: service.id })
    const asker = { kind: 'token' as const, id, name: id }
    await api.storage.actors.create({ ...base, entry: { ...base.entry, by: asker } })
    const seen = await byIn(`/api/v1/deploys/dep-${id}/history`, own, (body) => body[0])
    assert.deepEqual(seen, id === 'tok-own' ? asker : hidden)
  }
})
