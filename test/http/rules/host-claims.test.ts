// Claims of hosts over HTTP: no service gets the host of another one, by its name or as its domain, also with
// concurrent requests.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startChecked } from '../../support/http/checked-api.ts'

async function start(t: TestContext) {
  const api = await startChecked(t)
  const add = (name: string, domain: string) => api.call('POST', `/services/${name}/domains`, { domain })
  const conflict = async (method: string, path: string, body: unknown) => {
    const response = await api.call(method, path, body)
    return [response.status, response.body.code, response.body.detail, response.body.hint]
  }
  return { ...api, add, conflict }
}

test('a domain of another service is refused, naming its owner and the remedy', async (t) => {
  const { create, conflict, get } = await start(t)
  await create({ name: 'shop', custom_domains: ['shop.example.com'] })
  await create({ name: 'api' })
  const expected = [
    409,
    'conflict',
    'shop.example.com is a domain of shop',
    'remove it there first: berth domains rm shop shop.example.com',
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
    'choose another domain',
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
    'later.localhost, the address of a service of this name, is a domain of shop',
    'choose another name, or remove the domain: berth domains rm shop later.localhost',
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
    'choose another domain',
  ])
  assert.deepEqual(await conflict('POST', '/services', { name: 'berth-ui' }), [
    409,
    'conflict',
    words,
    'choose another name',
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

test('a removed domain is free immediately, after PATCH or DELETE', async (t) => {
  const { create, call, add } = await start(t)
  const [one, two] = ['one.example.com', 'two.example.com']
  await create({ name: 'shop', custom_domains: [one, two] })
  await create({ name: 'api' })

  await call('PATCH', '/services/shop', { custom_domains: [two] })
  assert.equal((await add('api', one)).status, 201)
  await call('DELETE', `/services/shop/domains/${two}`)
  assert.equal((await add('api', two)).status, 201)
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
