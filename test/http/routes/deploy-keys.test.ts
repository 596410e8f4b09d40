// Deploy keys over HTTP: made once, replaced on request, and never shown with their private half.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { DeployKey } from '../../../src/api/deploy-key.ts'
import { fingerprintOf } from '../../../src/git/ssh-key.ts'
import { startChecked } from '../../support/http/checked-api.ts'

const path = '/services/shop/deploy-key'
const hostKey = Buffer.from('a host').toString('base64')

async function openShop(t: TestContext) {
  const api = await startChecked(t)
  const service = await api.create({
    name: 'shop',
    repo_url: 'git@git.example.com:ada/shop.git',
    deploy: false,
  })
  const pin = (host: string) =>
    api.storage.deployKeys.pin(service.id, [
      { host, type: 'ssh-rsa', key: hostKey, pinnedAt: '2026-01-02T03:04:05.678Z' },
    ])
  return { ...api, id: service.id, pin }
}

test('a key is made once, and shown without its private half', async (t) => {
  const { call, get, refused, storage, id } = await openShop(t)
  assert.deepEqual(await refused('GET', path), [404, 'not_found'])
  assert.equal((await get('shop')).has_deploy_key, false)

  const made = await call('POST', path)
  const again = await call('POST', path, { rotate: false })

  assert.deepEqual([made.status, again.body], [200, made.body])
  assert.deepEqual((await call('GET', path)).body, made.body)
  assert.equal((await get('shop')).has_deploy_key, true)
  const { public_key, fingerprint, created_at, ...rest } = made.body as DeployKey
  assert.match(public_key, /^ssh-ed25519 [\w+/=]+ berth-shop$/)
  assert.equal(fingerprint, fingerprintOf(public_key.split(' ')[1]!))
  assert.ok(Date.parse(created_at) <= Date.now())
  assert.deepEqual(rest, { hosts: [] })
  assert.match(storage.deployKeys.get(id)!.privateKey, /^-----BEGIN OPENSSH PRIVATE KEY-----\n/)
})

test('a key that is replaced keeps the pinned hosts, which can be forgotten', async (t) => {
  const { call, refused, pin } = await openShop(t)
  assert.deepEqual(await refused('DELETE', `${path}/hosts`), [404, 'not_found'])
  const first = (await call('POST', path)).body
  await pin('git.example.com')

  const second = (await call('POST', path, { rotate: true })).body

  assert.notEqual(second.public_key, first.public_key)
  const { hosts } = (await call('GET', path)).body
  const pinned = { host: 'git.example.com', type: 'ssh-rsa', fingerprint: fingerprintOf(hostKey) }
  assert.deepEqual(hosts, [{ ...pinned, pinned_at: '2026-01-02T03:04:05.678Z' }])

  assert.equal((await call('DELETE', `${path}/hosts`)).status, 204)
  assert.deepEqual((await call('GET', path)).body, { ...second, hosts: [] })
})

test('a deleted key is gone, with its hosts', async (t) => {
  const { call, refused, pin } = await openShop(t)
  await call('POST', path)
  await pin('git.example.com')

  assert.equal((await call('DELETE', path)).status, 204)

  assert.deepEqual(await refused('DELETE', path), [404, 'not_found'])
  await pin('git.example.com')
  assert.deepEqual((await call('POST', path)).body.hosts, [])
})

test('each change of the key announces the service, so that a failing source is read again', async (t) => {
  const { call, storage, id, pin } = await openShop(t)
  const announced: string[] = []
  t.after(storage.changes.subscribe(({ kind, id: changed }) => void (changed === id && announced.push(kind))))
  for (const [method, tail, body] of [
    ['POST', ''],
    ['POST', '', { rotate: true }],
    ['DELETE', '/hosts'],
    ['DELETE', ''],
  ] as const) {
    const before = announced.length
    await call(method, `${path}${tail}`, body)
    assert.deepEqual(announced.slice(before), ['service'], `${method} ${tail}`)
  }
  await call('POST', path)
  const before = announced.length
  await pin('git.example.com')
  assert.equal(announced.length, before)
})

test('the audit log has each change of a key', async (t) => {
  const { call, storage } = await openShop(t)
  await call('POST', path, { rotate: true })
  await call('DELETE', `${path}/hosts`)
  await call('DELETE', path)

  const { records } = storage.audit.page({ limit: 3 })

  const expected = ['service.delete_deploy-key', 'service.delete_deploy-key_host', 'service.deploy-key']
  assert.deepEqual(
    records.map(({ action }) => action),
    expected,
  )
})
