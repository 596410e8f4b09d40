// Credentials of image registries, over HTTP and a real store.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Registry } from '../../../src/api/registry.ts'
import { startChecked } from '../../support/http/checked-api.ts'

const ada = { username: 'ada', password: 'canary-pässword-5f2c' }

test('credentials are stored, shown without the password, replaced and deleted', async (t) => {
  const { call, storage } = await startChecked(t)

  const put = await call('PUT', '/registries/ghcr.io', ada)
  const { created_at, updated_at } = put.body as Registry
  const view = { host: 'ghcr.io', username: 'ada', created_at, updated_at: created_at }
  assert.deepEqual([put.status, put.body], [200, view])
  assert.equal(updated_at, created_at)
  assert.equal(storage.registries.get('ghcr.io')?.password, ada.password)

  const replaced = await call('PUT', '/registries/ghcr.io', { username: 'bob', password: 'other' })
  assert.deepEqual(
    [replaced.status, replaced.body.username, replaced.body.created_at],
    [200, 'bob', created_at],
  )
  assert.deepEqual((await call('GET', '/registries/ghcr.io')).body, replaced.body)
  assert.equal(storage.registries.get('ghcr.io')?.password, 'other')

  assert.equal((await call('DELETE', '/registries/ghcr.io')).status, 204)
  assert.equal(storage.registries.get('ghcr.io'), null)
})

test('credentials that the registry rejects are not stored, if they are to be verified', async (t) => {
  const { call, refused, storage } = await startChecked(t)
  const wrong = { username: 'ada', password: 'wrong' }

  assert.deepEqual(await refused('PUT', '/registries/ghcr.io', { ...wrong, verify: true }), [
    400,
    'invalid_request',
  ])
  assert.equal(storage.registries.get('ghcr.io'), null)
  assert.equal((await call('PUT', '/registries/ghcr.io', { ...ada, verify: true })).status, 200)
  assert.equal((await call('PUT', '/registries/ghcr.io', wrong)).status, 200)
})

test('registries are listed by host', async (t) => {
  const { call } = await startChecked(t)
  for (const host of ['registry.test:5000', 'docker.io', 'localhost']) {
    await call('PUT', `/registries/${host}`, ada)
  }

  const { body } = await call('GET', '/registries')

  assert.deepEqual(
    (body as unknown as Registry[]).map(({ host }) => host),
    ['docker.io', 'localhost', 'registry.test:5000'],
  )
})

test('a registry has one entry for all of its aliases', async (t) => {
  const { call } = await startChecked(t)

  assert.equal((await call('PUT', '/registries/Index.Docker.IO', ada)).body.host, 'docker.io')
  assert.equal((await call('PUT', '/registries/registry-1.docker.io', ada)).body.host, 'docker.io')
  assert.equal((await call('PUT', '/registries/127.0.0.1%3A5000', ada)).body.host, '127.0.0.1:5000')

  assert.equal((await call('GET', '/registries/docker.io')).status, 200)
  assert.equal((await call('GET', '/registries/127.0.0.1:5000')).status, 200)
  assert.equal((await call('DELETE', '/registries/INDEX.docker.io')).status, 204)
  assert.equal((await call('GET', '/registries/docker.io')).status, 404)
})

test('an invalid host is rejected, and nothing is stored', async (t) => {
  const { refused, storage } = await startChecked(t)
  const hosts = ['ghcr', 'ghcr.io%2Fada', 'https%3A%2F%2Fghcr.io', 'a%3Ab@ghcr.io', '-ghcr.io', 'ghcr.io%0A']

  for (const host of [...hosts, 'ghcr.io:0', 'a..b', '%20', `${'a'.repeat(300)}.io`]) {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const [status, code] = await refused(method, `/registries/${host}`, method === 'PUT' ? ada : undefined)
      assert.deepEqual([host, status, code], [host, 400, 'invalid_request'])
    }
  }
  assert.deepEqual(storage.registries.list(), [])
})

test('rejected credentials are named by field and never repeated', async (t) => {
  const { call, refused, storage } = await startChecked(t)
  const put = (body: unknown) => refused('PUT', '/registries/ghcr.io', body)
  const invalid = (path: string, code: string) => [400, 'invalid_request', `${path} ${code}`]

  assert.deepEqual(await put({ username: 'ada' }), invalid('password', 'required'))
  assert.deepEqual(await put({ ...ada, password: '' }), invalid('password', 'too_small'))
  assert.deepEqual(await put({ ...ada, username: '' }), invalid('username', 'too_small'))
  assert.deepEqual(await put({ ...ada, username: 'a:b' }), invalid('username', 'invalid_format'))
  assert.deepEqual(await put({ ...ada, username: 'a\nb' }), invalid('username', 'invalid_format'))
  assert.deepEqual(await put({ ...ada, password: 'x'.repeat(16_385) }), invalid('password', 'invalid'))
  assert.deepEqual((await put({ ...ada, email: 'ada@example.com' })).slice(0, 2), [400, 'invalid_request'])

  const unusual = await call('PUT', '/registries/ghcr.io', { ...ada, username: 'canary:name' })
  assert.doesNotMatch(unusual.text, /canary/)
  assert.deepEqual(storage.registries.list(), [])
})

test('a multi-line key is stored as a password, byte for byte', async (t) => {
  const { call, storage } = await startChecked(t)
  const password = `{\n  "private_key": "${'k'.repeat(3000)}\\n"\n}\n`

  const { status, text } = await call('PUT', '/registries/registry.test', { username: '_json_key', password })

  assert.equal(status, 200)
  assert.doesNotMatch(text, /kkk/)
  assert.equal(storage.registries.get('registry.test')?.password, password)
})
