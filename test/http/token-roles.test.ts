// What a token may do by its role and its services: what it sees, what it never sees, and what it is
// refused. Who may call which route is in credentials.test.ts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Route } from '../../src/http/pipeline/route.ts'
import { routes } from '../../src/http/pipeline/routes.ts'
import type { TokenRow } from '../../storage/access/hashed-tokens.ts'
import { type AccountApi, outcomeOf, startWithAccount } from '../support/http/account.ts'
import { startDatastores } from '../support/http/datastore-api.ts'
import { openStream } from '../support/http/event-stream.ts'
import type { Api } from '../support/http/http-context.ts'
import { checkAnswer } from '../support/http/openapi.ts'
import { formsOf } from '../support/storage/canary.ts'
import { serviceRow, transitionOf } from '../support/storage/store-fixtures.ts'
import { instant } from '../support/supervisor/supervision.ts'

type Rights = Partial<Pick<TokenRow, 'role' | 'services'>>
let count = 0

async function tokenWith({ storage }: Pick<Api, 'storage'>, rights: Rights): Promise<string> {
  const id = storage.ids.newId('tok')
  const secret = `bth_role-${++count}`
  const dates = { created_at: instant, expires_at: null, last_used_at: null }
  const row = { id, name: 'role', hint: 'role', role: 'admin', services: null, ...dates, ...rights } as const
  await storage.commit((commit) => storage.tokens.insert(commit, secret, row))
  return secret
}

const create = ({ browser }: AccountApi, body: object) => browser.call('POST', '/auth/tokens', body)

test('a token is an admin without a limit by default', async (t) => {
  const api = await startWithAccount(t)
  const rightsOf = async (body: object) => {
    const { api_token } = (await create(api, { name: 'ci', ...body })).body
    return [api_token.role, api_token.services]
  }
  await api.call('POST', '/api/v1/services', { body: { name: 'shop' } })
  const { id } = api.storage.services.get('shop')!

  assert.deepEqual(await rightsOf({}), ['admin', null])
  assert.deepEqual(await rightsOf({ role: null, services: null }), ['admin', null])
  assert.deepEqual(await rightsOf({ role: 'read' }), ['read', null])
  assert.deepEqual(await rightsOf({ role: 'deploy', services: ['shop'] }), ['deploy', ['shop']])
  assert.deepEqual(await rightsOf({ role: 'read', services: [id, 'shop'] }), ['read', ['shop']])
  const listed = (await api.browser.call('GET', '/auth/tokens')).body
  assert.deepEqual([listed[0].role, listed[0].services], ['read', ['shop']])
  assert.deepEqual(api.storage.tokens.byId(listed[0].id)!.services, [id])
})

test('only an admin token starts a run that gets input', async (t) => {
  const api = await startWithAccount(t)
  await api.call('POST', '/api/v1/services', { body: { name: 'shop' } })
  const started = async (role: 'admin' | 'deploy', stdin: boolean) => {
    const token = await tokenWith(api, { role })
    const body = { command: 'cat', stdin }
    return (await api.call('POST', '/api/v1/services/shop/jobs', { token, body })).status
  }
  // Without a live deploy, what is allowed is a conflict.
  assert.deepEqual([await started('admin', true), await started('deploy', false)], [409, 409])
  assert.equal(await started('deploy', true), 403)
})

test('an invalid role or service is rejected, and nothing is created', async (t) => {
  const api = await startWithAccount(t)
  await api.call('POST', '/api/v1/services', { body: { name: 'shop' } })
  const refused: [object, string][] = [
    [{ role: 'owner' }, 'role'],
    [{ role: '' }, 'role'],
    [{ services: ['shop'] }, 'services'],
    [{ role: 'admin', services: ['shop'] }, 'services'],
    [{ role: 'deploy', services: [] }, 'services'],
    [{ role: 'deploy', services: ['none'] }, 'services'],
    [{ role: 'deploy', services: 'shop' }, 'services'],
  ]

  for (const [body, field] of refused) {
    const response = await create(api, { name: 'ci', ...body })
    assert.equal(outcomeOf(response), '400 invalid_request', JSON.stringify(body))
    assert.deepEqual(response.body.errors[0].path, field)
  }
  assert.deepEqual(api.storage.tokens.list(), [])
})

test('a refused request names the missing right and the remedy', async (t) => {
  const api = await startWithAccount(t)
  await api.storage.services.create(serviceRow())
  const requests: [string, string, Rights][] = [
    ['POST', '/services/shop/restart', { role: 'read' }],
    ['DELETE', '/services/shop', { role: 'deploy' }],
    ['POST', '/services/shop/restart', { role: 'deploy', services: ['svc-2'] }],
    ['GET', '/services/none', { role: 'read', services: ['svc-1'] }],
  ]
  const details = []

  for (const [method, path, rights] of requests) {
    const response = await api.call(method, `/api/v1${path}`, { token: await tokenWith(api, rights) })
    checkAnswer(method, `/api/v1${path}`, response.status, response.body)
    assert.equal(outcomeOf(response), '403 insufficient_role')
    assert.match(String(response.body.hint), /\/account$/)
    details.push(response.body.detail)
  }
  assert.deepEqual(details, [
    'this needs a token with the role deploy',
    'this needs a token with the role admin',
    'this token is limited to services that no longer exist',
    'this token is limited to shop',
  ])
})

test('a token for one service sees only that one in lists and in the change feed', async (t) => {
  const api = await startWithAccount(t)
  const { storage } = api
  await storage.services.create(serviceRow({ id: 'svc-1', name: 'shop' }))
  await storage.services.create(serviceRow({ id: 'svc-2', name: 'blog' }))
  for (const [id, service_id] of [
    ['crt-1', 'svc-1'],
    ['crt-2', 'svc-2'],
    ['crt-3', ''],
  ] as const) {
    const certificate = transitionOf({ id, kind: 'certificate', service_id })
    await storage.actors.create({ ...certificate, record: { ...certificate.record, host: `${id}.test` } })
  }
  const token = await tokenWith(api, { role: 'deploy', services: ['svc-1'] })
  const idsOf = async (path: string) =>
    ((await api.call('GET', `/api/v1${path}`, { token })).body as unknown as { id: string }[]).map(
      ({ id }) => id,
    )
  const feed = await openStream(t, `${api.url}/api/v1/events`, { authorization: `Bearer ${token}` })
  await feed.next()

  await storage.services.create(serviceRow({ id: 'svc-3', name: 'late' }))
  await storage.services.update('svc-2', (row) => ({ ...row, instances: 2 }))
  await storage.services.update('svc-1', (row) => ({ ...row, instances: 2 }))

  assert.deepEqual(await idsOf('/services'), ['svc-1'])
  assert.deepEqual(await idsOf('/certificates'), ['crt-1'])
  assert.equal(JSON.parse((await feed.next())!.data).id, 'svc-1')
})

test('a token does not apply to a new service with the same name', async (t) => {
  const api = await startWithAccount(t)
  await api.storage.services.create(serviceRow({ id: 'svc-2', name: 'shop' }))
  const token = await tokenWith(api, { role: 'deploy', services: ['svc-1'] })

  const response = await api.call('POST', '/api/v1/services/shop/restart', { token })

  assert.equal(outcomeOf(response), '403 insufficient_role')
})

const canary = 'canary-3f9a62d817'

/** A server with a secret in everything that can hold one, and the id of each thing by its noun. */
async function startFull(t: Parameters<typeof startDatastores>[0]) {
  const api = await startDatastores(t)
  const repo_url = `https://ada:${canary}-git@git.example.com/shop.git`
  const env = [
    { key: 'KEY', value: `${canary}-env` },
    { key: 'DB', value: '${{datastore.shop-db.connectionString}}' },
  ]
  const service = await api.create({ name: 'shop', repo_url, env, deploy: false })
  const datastore = await api.make({ name: 'shop-db' })
  const credentials = { username: 'ada', password: `${canary}-registry` }
  await api.call('PUT', '/registries/registry.example.com', credentials)
  const record = { service_id: service.id, status: 'queued' }
  for (const [kind, id] of [
    ['deploy', 'dep-1'],
    ['job-run', 'job-1'],
    ['certificate', 'crt-1'],
  ] as const) {
    const input = transitionOf({ id, kind, service_id: service.id })
    await api.storage.actors.create({ ...input, record: { ...input.record, ...record, id } })
  }
  for (const [kind, id] of [
    ['backup', 'bak-1'],
    ['restore', 'rst-1'],
  ] as const) {
    const given = transitionOf({ id, kind, service_id: datastore.id })
    const view = { id, datastore: 'shop-db', datastore_id: datastore.id, created_at: instant }
    await api.storage.actors.create({ ...given, record: { ...given.record, ...view } })
  }
  const ids = { services: service.id, datastores: datastore.id, registries: 'registry.example.com' }
  const actors = {
    deploys: 'dep-1',
    jobs: 'job-1',
    certificates: 'crt-1',
    backups: 'bak-1',
    restores: 'rst-1',
  }
  return { api, datastore, ids: { ...ids, ...actors } as Record<string, string> }
}

/** The body of a response, or what an endless stream sends within a moment. */
async function readAll(url: string, token: string): Promise<{ status: number; text: string }> {
  const controller = new AbortController()
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(url, { headers, signal: controller.signal })
  let text = ''
  const timer = setTimeout(() => controller.abort(), 500)
  try {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString()
  } catch {
    // The stream is endless.
  }
  clearTimeout(timer)
  return { status: response.status, text }
}

for (const role of ['read', 'deploy'] as const) {
  test(`no GET response to a ${role} token contains a secret value`, async (t) => {
    const { api, datastore, ids } = await startFull(t)
    const token = await tokenWith(api, { role })
    const secrets = [canary, datastore.password, 'bth_test'].flatMap(formsOf)
    const addressOf = ({ path }: Route) =>
      `${api.url}${path.replace(/([\w-]+)\/\{\w+\}/g, (_, noun) => `${noun}/${ids[noun] ?? 'none'}`)}`
    const found: string[] = []
    let seen = 0

    for (const route of routes.filter(({ method }) => method === 'GET')) {
      const { status, text } = await readAll(addressOf(route), token)
      if (status === 200) seen++
      for (const secret of secrets) if (text.includes(secret)) found.push(`${route.path}: ${secret}`)
    }

    assert.deepEqual(found, [])
    assert.ok(seen > 25, `only ${seen} of them answered`)
    const env = await api.call('GET', '/services/shop/env', undefined, { token })
    assert.deepEqual(env.body, [
      { key: 'DB', value: null },
      { key: 'KEY', value: null },
    ])
    const view = (await api.call('GET', '/datastores/shop-db', undefined, { token })).body
    assert.deepEqual([view.password, view.internal_url, view.external_url], [null, null, null])
    assert.equal(view.internal_host, 'shop-db')
    const asAdmin = await api.call('GET', '/datastores/shop-db')
    assert.ok(asAdmin.text.includes(datastore.password), 'an admin gets what the others do not')
  })
}

test('no dry run reveals whether a token guessed a value', async (t) => {
  const { api } = await startFull(t)
  const body = { set: [{ key: 'KEY', value: `${canary}-env` }] }

  for (const role of ['read', 'deploy'] as const) {
    const token = await tokenWith(api, { role })
    const response = await api.call('PATCH', '/services/shop/env?dry_run=true', body, { token })
    assert.equal(outcomeOf(response), '403 insufficient_role')
  }
})
