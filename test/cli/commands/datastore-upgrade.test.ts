// `berth db upgrade`: what it asks the server, what it says, and how it fails.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Datastore } from '../../../src/api/datastore.ts'
import { datastore, startFakeDatastores } from '../../support/cli/fake-datastores.ts'

const at = '2026-11-26T01:00:00.000Z'
const running = { id: 'upg-1', from: '17', to: '18', error: null, error_code: null }
const started = { ...running, started_at: at, finished_at: null }
const former = { version: '17', switched_at: at, expires_at: at }

/** A server whose datastore is upgraded with this outcome. */
function upgradeServer(t: TestContext, outcome: Partial<Datastore>) {
  return startFakeDatastores(t, ({ method, path }) => {
    if (method === 'GET' && path.includes('/upgrade'))
      return { body: { from: '17', to: '18', size_bytes: 5 * 1024 ** 3, downtime_seconds: 527 } }
    if (method === 'POST')
      return { status: 202, body: datastore('shop-db', { status: 'upgrading', upgrade: started }) }
    return { body: datastore('shop-db', outcome) }
  })
}

test('it asks for the upgrade and shows the datastore with its former version', async (t) => {
  const upgrade = { ...started, finished_at: at }
  const { berth, asked } = await upgradeServer(t, { version: '18', upgrade, former })
  const { code, stdout, stderr } = await berth('db', 'upgrade', 'shop-db', '--to', '18', '--yes')

  assert.equal(code, 0, stderr)
  assert.match(stdout, /^kind +postgres 18\n/m)
  assert.match(stdout, /^former version +17, left .+: berth db upgrade shop-db --back$/m)
  const posted = asked().filter(([method]) => method === 'POST')
  assert.deepEqual(posted, [['POST', '/datastores/shop-db/upgrade', { version: '18' }]])
})

test('without a terminal it states the downtime and asks for --yes', async (t) => {
  const { berth, asked } = await upgradeServer(t, {})
  const { code, stderr } = await berth('db', 'upgrade', 'shop-db', '--to', '18')
  assert.equal(code, 2)
  assert.match(stderr, /Postgres 17 to 18 with 5(\.0)? GiB of data: no client can connect for about 8m/)
  assert.ok(asked().every(([method]) => method === 'GET'))
})

test('a failed upgrade ends with 1 and names the version that serves', async (t) => {
  const upgrade = { ...started, finished_at: at, error: 'no extension x', error_code: 'upgrade_refused' }
  const { berth } = await upgradeServer(t, { upgrade })
  const { code, stderr } = await berth('db', 'upgrade', 'shop-db', '--to', '18', '--yes')
  assert.equal(code, 1)
  assert.match(stderr, /✘ the upgrade to 18 failed: no extension x\n +shop-db serves as Postgres 17/)
})

test('it returns only to a version that is kept', async (t) => {
  const { berth, asked } = await upgradeServer(t, { former: null })
  const { code, stderr } = await berth('db', 'upgrade', 'shop-db', '--back', '--yes')
  assert.equal(code, 1)
  assert.match(stderr, /there is no former version of shop-db to return to/)
  assert.ok(asked().every(([method]) => method === 'GET'))
})

test('it cancels, and refuses other combinations of its options', async (t) => {
  const { berth, asked } = await upgradeServer(t, {})
  assert.equal((await berth('db', 'upgrade', 'shop-db', '--cancel')).code, 0)
  assert.equal(asked().at(-1)?.[1], '/datastores/shop-db/upgrade/cancel')
  for (const options of [[], ['--back', '--to', '18'], ['--cancel', '--back']])
    assert.equal((await berth('db', 'upgrade', 'shop-db', ...options)).code, 2, options.join(' '))
})
