// Suggestions for unknown names.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearest } from '../src/nearest-name.ts'
import { startDatastores } from './support/http/datastore-api.ts'

test('a missing, surplus, wrong or swapped letter is tolerated; a different word is not', () => {
  const names = ['hello', 'shop', 'shop-db', 'web']
  const meant = { helo: 'hello', helllo: 'hello', hallo: 'hello', ehllo: 'hello', Hello: 'hello' }
  for (const [wanted, name] of Object.entries(meant)) assert.equal(nearest(wanted, names), name, wanted)
  assert.equal(nearest('shop-bd', names), 'shop-db')
  assert.equal(nearest('wbe', names), 'web')
  for (const wanted of ['nginx', 'x', 'w', 'shopping-cart', '', 'a'.repeat(128)]) {
    assert.equal(nearest(wanted, names), null, wanted)
  }
  assert.equal(nearest('hello', []), null)
})

test('an unknown service or datastore is named, with the most similar name', async (t) => {
  const { call } = await startDatastores(t)
  await call('POST', '/services', { name: 'hello', type: 'web_service' })
  await call('POST', '/datastores', { kind: 'postgres', name: 'shop-db' })
  const said = async (path: string) => {
    const { status, body } = await call('GET', path)
    const { code, detail, hint } = body as unknown as Record<string, string>
    return [status, code, detail, hint]
  }

  assert.deepEqual(await said('/services/helo/env'), [
    404,
    'not_found',
    "there is no service 'helo'",
    "did you mean 'hello'?",
  ])
  assert.deepEqual((await said('/services/quite-another')).slice(2), [
    "there is no service 'quite-another'",
    'berth services lists them',
  ])
  assert.deepEqual((await said('/services/shop-db')).slice(2), [
    "there is no service 'shop-db'",
    'it is a datastore: berth db show shop-db',
  ])
  assert.deepEqual((await said('/datastores/shopdb')).slice(2), [
    "there is no datastore 'shopdb'",
    "did you mean 'shop-db'?",
  ])
  const lists = {
    '/datastores/quite-another': 'berth db lists them',
    '/deploys/hello': 'berth deploys NAME lists them',
    '/jobs/hello': 'berth jobs NAME lists them',
  }
  for (const [path, hint] of Object.entries(lists)) assert.equal((await said(path))[3], hint)
  assert.deepEqual((await said('/datastores/hello')).slice(2), [
    "there is no datastore 'hello'",
    'it is a service: berth show hello',
  ])
})
