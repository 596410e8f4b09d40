// Domains over HTTP: adding, listing and taking them away, and the addresses that follow.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { ServiceDomain } from '../../../src/api/domains.ts'
import { startChecked } from '../../support/http/checked-api.ts'
import { transitionOf } from '../../support/storage/store-fixtures.ts'

const invalid = [400, 'invalid_request']

/** The API; `certified` are the hosts with a certificate, which a test may change. */
async function start(t: TestContext) {
  const api = await startChecked(t)
  const certified = new Set<string>()
  api.context.hasCertificate = (host) => certified.has(host)
  const domains = async (name: string) =>
    (await api.call('GET', `/services/${name}/domains`)).body as unknown as ServiceDomain[]
  const add = (name: string, domain: string) => api.call('POST', `/services/${name}/domains`, { domain })
  const conflict = async (method: string, path: string, body: unknown) => {
    const response = await api.call(method, path, body)
    return [response.status, response.body.code, response.body.detail, response.body.hint]
  }
  return { ...api, certified, domains, add, conflict }
}

const plain = { redirect_to: null, https: false, certificate: null }

test('a domain is added in its normal form, listed after the default host, and removed', async (t) => {
  const { create, get, call, add, domains } = await start(t)
  const { id: service_id } = await create({ name: 'shop' })
  const own = {
    domain: 'shop.localhost',
    service_id,
    kind: 'default',
    url: 'http://shop.localhost',
    ...plain,
  }
  const wanted = {
    domain: 'xn--mnchen-3ya.example',
    service_id,
    kind: 'custom',
    url: 'http://xn--mnchen-3ya.example',
    ...plain,
  }

  const added = await add('shop', 'München.Example.')
  assert.deepEqual([added.status, added.body], [201, wanted])
  assert.deepEqual(await domains('shop'), [own, wanted])
  assert.deepEqual((await get('shop')).hosts, ['shop.localhost', 'xn--mnchen-3ya.example'])
  const removed = await call('DELETE', `/services/shop/domains/${encodeURIComponent('MÜNCHEN.example')}`)
  assert.equal(removed.status, 204)
  assert.deepEqual(await domains('shop'), [own])
})

test('adding an existing domain returns it and changes nothing', async (t) => {
  const { create, add, storage } = await start(t)
  const { id } = await create({ name: 'shop' })
  const first = await add('shop', 'shop.example.com')
  const { revision } = storage.services.get(id)!

  const again = await add('shop', 'SHOP.example.com')

  assert.deepEqual([again.status, again.body], [201, first.body])
  assert.equal(storage.services.get(id)!.revision, revision)
})

test('a repeated request gets the first response, even after the domain was removed', async (t) => {
  const { create, call, get } = await start(t)
  await create({ name: 'shop' })
  const requested = { headers: { 'idempotency-key': 'once' } }
  const add = () => call('POST', '/services/shop/domains', { domain: 'shop.example.com' }, requested)
  const first = await add()
  await call('DELETE', '/services/shop/domains/shop.example.com')

  const again = await add()

  assert.deepEqual([again.status, again.body], [201, first.body])
  assert.equal(again.headers.get('idempotency-replayed'), 'true')
  assert.deepEqual((await get('shop')).custom_domains, [])
})

test('a foreign domain cannot be removed, and the default host stays', async (t) => {
  const { create, refused, conflict } = await start(t)
  await create({ name: 'shop', custom_domains: ['shop.example.com'] })
  await create({ name: 'api' })
  const path = (host: string) => `/services/api/domains/${host}`

  assert.deepEqual(await refused('DELETE', path('shop.example.com')), [404, 'not_found'])
  assert.deepEqual(await refused('DELETE', '/services/none/domains/a.example'), [404, 'not_found'])
  assert.deepEqual(await refused('DELETE', path('localhost')), invalid)
  assert.deepEqual(await conflict('DELETE', path('api.localhost'), undefined), [
    409,
    'conflict',
    'api.localhost is the default address of api: it cannot be removed',
    undefined,
  ])
})

test('create and PATCH accept domains, each once; an empty list clears them, null keeps them', async (t) => {
  const { create, call, get } = await start(t)
  const custom_domains = ['b.example.com', 'A.example.com', 'b.example.com.']
  const response = await create({ name: 'shop', custom_domains })
  const patch = async (changed: unknown) =>
    (await call('PATCH', '/services/shop', { custom_domains: changed })).body.custom_domains

  assert.deepEqual(response.custom_domains, ['b.example.com', 'a.example.com'])
  assert.deepEqual(await patch(null), ['b.example.com', 'a.example.com'])
  assert.deepEqual(await patch(['a.example.com', 'c.example.com']), ['a.example.com', 'c.example.com'])
  assert.deepEqual(await patch([]), [])
  assert.deepEqual((await get('shop')).hosts, ['shop.localhost'])
})

test('only public services have domains, limits and HSTS; others get 400', async (t) => {
  const { create, refused, call, add } = await start(t)
  await create({ name: 'db', type: 'private_service', hsts: false, max_body_mb: 512 })
  const settings = { custom_domains: ['a.example'], hsts: true, request_timeout_seconds: 5, max_body_mb: 1 }

  for (const [field, value] of Object.entries(settings)) {
    const refusal = [...invalid, `${field} invalid`]
    const body = { name: 'worker', type: 'background_worker', [field]: value }
    assert.deepEqual(await refused('POST', '/services', body), refusal)
    assert.deepEqual(await refused('PATCH', '/services/db', { [field]: value }), refusal)
  }
  assert.equal((await add('db', 'a.example')).status, 400)
  assert.deepEqual((await call('GET', '/services/db/domains')).body, [])
  const { url, hosts } = (await call('GET', '/services/db')).body
  assert.deepEqual([url, hosts], [null, []])
})

test('an invalid domain is rejected with a suggestion, and 51 domains are too many', async (t) => {
  const { create, call, refused, add } = await start(t)
  const fifty = Array.from({ length: 50 }, (_, index) => `d${index}.example.com`)
  await create({ name: 'shop', custom_domains: fifty })

  const pasted = await call('PATCH', '/services/shop', { custom_domains: ['https://Shop.example.com/'] })
  assert.deepEqual([pasted.status, pasted.body.hint], [400, 'write shop.example.com'])
  assert.deepEqual(await refused('POST', '/services/shop/domains', { domain: '10.0.0.1' }), invalid)
  assert.deepEqual(await refused('POST', '/services/shop/domains', { domain: 'one.more.example' }), [
    ...invalid,
    'custom_domains invalid',
  ])
  assert.equal((await add('shop', 'd0.example.com')).status, 201)
})

test('the address is the first host with a certificate, with unusual ports', async (t) => {
  const { create, get, context, certified, domains } = await start(t)
  await create({ name: 'shop', custom_domains: ['a.example.com', 'b.example.com'] })

  assert.equal((await get('shop')).url, 'http://shop.localhost')
  Object.assign(context.config.edge, { httpPort: 8080, httpsPort: 8443 })
  assert.equal((await get('shop')).url, 'http://shop.localhost:8080')
  certified.add('b.example.com')
  assert.equal((await get('shop')).url, 'https://b.example.com:8443')
  assert.deepEqual(
    (await domains('shop')).map(({ url, https }) => [url, https]),
    [
      ['http://shop.localhost:8080', false],
      ['http://a.example.com:8080', false],
      ['https://b.example.com:8443', true],
    ],
  )
})

test('each domain shows the state of its newest certificate, or that it gets none', async (t) => {
  const { create, domains, storage } = await start(t)
  const { id } = await create({ name: 'shop', custom_domains: ['a.example.com', 'b.example.com'] })
  const not_after = '2027-01-01T00:00:00.000Z'
  const certificates = [
    { host: 'a.example.com', status: 'valid', error: null, not_after },
    { host: 'b.example.com', status: 'valid', error: null, not_after },
    { host: 'b.example.com', status: 'waiting', error: 'its DNS points elsewhere', not_after: null },
    { host: 'a.example.com', status: 'released', error: null, not_after: null },
  ]
  for (const [index, certificate] of certificates.entries()) {
    const row = { id: `crt-${index}`, kind: 'certificate', service_id: id }
    const record = { id: row.id, service_id: id, ...certificate }
    await storage.actors.create(transitionOf(row, { record } as object))
  }

  assert.deepEqual(
    (await domains('shop')).map(({ certificate }) => certificate),
    [
      null,
      { status: 'valid', error: null, not_after },
      { status: 'waiting', error: 'its DNS points elsewhere', not_after: null },
    ],
  )
})

test('without an edge there are no addresses, and domains can still be set', async (t) => {
  const { create, get, context, domains } = await start(t)
  context.config.edge.mode = 'off'
  await create({ name: 'shop', custom_domains: ['shop.example.com'] })

  const { url, hosts, custom_domains } = await get('shop')
  assert.deepEqual([url, hosts, custom_domains], [null, [], ['shop.example.com']])
  assert.deepEqual(
    (await domains('shop')).map(({ domain, url: address }) => [domain, address]),
    [
      ['shop.localhost', null],
      ['shop.example.com', null],
    ],
  )
})

test('a domain may redirect to another host of its service, until it is added without that', async (t) => {
  const { create, call, domains, storage } = await start(t)
  const { id } = await create({ name: 'shop', custom_domains: ['a.example'] })
  await create({ name: 'other' })
  const add = async (domain: string, redirect_to?: string) => {
    const { status, body } = await call('POST', '/services/shop/domains', { domain, redirect_to })
    return status === 201 ? body.redirect_to : body.code
  }
  const redirects = async () => (await domains('shop')).map(({ redirect_to }) => redirect_to)

  assert.equal(await add('www.a.example', 'A.example.'), 'a.example')
  assert.deepEqual(await redirects(), [null, null, 'a.example'])
  const { revision } = storage.services.get(id)!
  assert.equal(await add('www.a.example', 'a.example'), 'a.example')
  assert.equal(storage.services.get(id)!.revision, revision)
  for (const target of ['www.a.example', 'b.example', 'other.localhost']) {
    assert.equal(await add('c.example', target), 'invalid_request', target)
  }
  assert.equal(await add('a.example', 'www.a.example'), 'invalid_request')
  assert.equal(await add('a.example', 'a.example'), 'invalid_request')
  assert.equal(await add('c.example', 'shop.localhost'), 'shop.localhost')

  await call('DELETE', '/services/shop/domains/a.example')
  assert.deepEqual(await redirects(), [null, null, 'shop.localhost'])
  assert.equal(await add('c.example'), null)
  await call('PATCH', '/services/shop', { custom_domains: ['c.example'] })
  assert.deepEqual(storage.services.get(id)!.domain_redirects, {})
  assert.equal(await add('c.example', 'shop.localhost'), 'shop.localhost')
  await call('DELETE', '/services/shop/domains/c.example')
  assert.deepEqual(storage.services.get(id)!.domain_redirects, {})
})

test('a domain of another service is refused, naming its owner and the remedy', async (t) => {
  const { create, conflict, get } = await start(t)
  await create({ name: 'shop', custom_domains: ['shop.example.com'] })
  await create({ name: 'api' })
  const expected = [
    409,
    'conflict',
    'shop.example.com is a domain of shop',
    'remove it there: berth domains rm shop shop.example.com',
  ]
  const custom_domains = ['other.example.com', 'Shop.example.com']

  const add = { domain: 'shop.example.com.' }
  assert.deepEqual(await conflict('POST', '/services/api/domains', add), expected)
  assert.deepEqual(await conflict('PATCH', '/services/api', { custom_domains }), expected)
  assert.deepEqual(await conflict('POST', '/services', { name: 'fresh', custom_domains }), expected)
  const image = 'ghcr.io/ada/web:v1'
  assert.deepEqual(await conflict('POST', '/services', { name: 'fresh', image, custom_domains }), expected)
  assert.deepEqual((await get('api')).custom_domains, [])
})

test('a default host cannot be added as a domain, nor a domain become a default host', async (t) => {
  const { create, conflict } = await start(t)
  await create({ name: 'shop', custom_domains: ['later.localhost', 'deep.er.localhost'] })
  await create({ name: 'api' })
  await create({ name: 'db', type: 'private_service' })

  assert.deepEqual(await conflict('POST', '/services/shop/domains', { domain: 'api.localhost' }), [
    409,
    'conflict',
    'api.localhost is the address of the service api',
    'choose another',
  ])
  assert.deepEqual(await conflict('POST', '/services/shop/domains', { domain: 'shop.localhost' }), [
    409,
    'conflict',
    'shop.localhost is already the default address of shop',
    'omit it',
  ])
  const self = { name: 'me', custom_domains: ['me.localhost'] }
  assert.deepEqual((await conflict('POST', '/services', self)).slice(0, 2), [409, 'conflict'])
  assert.deepEqual(await conflict('POST', '/services', { name: 'later' }), [
    409,
    'conflict',
    'later.localhost is a domain of shop',
    'remove it there: berth domains rm shop later.localhost',
  ])
  const hidden = await create({ name: 'later', type: 'private_service' })
  assert.deepEqual(hidden.hosts, [], 'what is not public takes no host')
  assert.equal((await conflict('POST', '/services/shop/domains', { domain: 'db.localhost' }))[0], 201)
})

test('the host of the dashboard cannot be claimed, by domain or by name', async (t) => {
  const { create, conflict, context } = await start(t)
  context.config.edge.dashboardHost = 'berth-ui.localhost'
  await create({ name: 'shop' })
  const words = 'berth-ui.localhost is the address of this server'

  assert.deepEqual(await conflict('POST', '/services/shop/domains', { domain: 'Berth-UI.localhost' }), [
    409,
    'conflict',
    words,
    'choose another',
  ])
  assert.deepEqual(await conflict('POST', '/services', { name: 'berth-ui' }), [
    409,
    'conflict',
    words,
    'choose another',
  ])
  assert.equal((await create({ name: 'berth-ui', type: 'private_service' })).name, 'berth-ui')
})

test('of fifty concurrent claims to one domain, by any route, one succeeds', async (t) => {
  const { create, call, storage } = await start(t)
  const custom_domains = ['hot.localhost']
  for (let index = 0; index < 30; index++) await create({ name: `s${index}` })
  const claims = Array.from({ length: 50 }, (_, index) => {
    if (index < 15) return call('POST', `/services/s${index}/domains`, { domain: 'hot.localhost' })
    if (index < 30) return call('PATCH', `/services/s${index}`, { custom_domains })
    if (index === 40) return call('POST', '/services', { name: 'hot' })
    return call('POST', '/services', { name: `s${index}`, custom_domains })
  })

  const responses = await Promise.all(claims)

  assert.equal(responses.filter(({ status }) => status < 300).length, 1)
  assert.equal(responses.filter(({ status }) => status === 409).length, 49)
  const owners = storage.services
    .list()
    .filter(({ name, custom_domains: held }) => name === 'hot' || held.includes('hot.localhost'))
  assert.equal(owners.length, 1)
})

test('a service that is being deleted keeps its domains until its row is deleted', async (t) => {
  const { create, call, add, refused, storage } = await start(t)
  const { id } = await create({ name: 'shop', custom_domains: ['shop.example.com'] })
  await create({ name: 'api' })
  await call('DELETE', '/services/shop')

  assert.deepEqual(await refused('DELETE', '/services/shop/domains/shop.example.com'), [409, 'conflict'])
  assert.deepEqual(await refused('POST', '/services/shop/domains', { domain: 'shop.example.com' }), [
    409,
    'conflict',
  ])
  assert.equal((await add('api', 'shop.example.com')).status, 409)
  await storage.services.remove(id)
  assert.equal((await add('api', 'shop.example.com')).status, 201)
})
