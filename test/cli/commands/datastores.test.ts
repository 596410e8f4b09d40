// `berth db`: what a person reads of their datastores, and what Tab knows of them.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Datastore } from '../../../src/api/datastore.ts'
import { all, datastore, password, shop, startFakeDatastores } from '../../support/cli/fake-datastores.ts'

test('db lists each datastore with kind, port and problems, and no password', async (t) => {
  const { berth } = await startFakeDatastores(t)

  const [bare, listed] = [await berth('db'), await berth('db', 'ls')]

  assert.deepEqual(bare, {
    code: 0,
    stderr: '',
    stdout: [
      'NAME      STATUS     KIND          PORT   MEMORY  NOTE',
      'cache     available  redis 8      25002  256 MiB  the host has 2 CPUs: cpu_limit 8 is capped at 2',
      'lost      failed     postgres 99         default  there is no image postgres:99',
      'shop-db   available  postgres 17  25001  default',
      'starting  creating   postgres 17         default\n',
    ].join('\n'),
  })
  assert.deepEqual(listed, bare)
  assert.ok(!bare.stdout.includes(password))
})

test('db show prints how services reach it, and the command for the password instead of it', async (t) => {
  const { berth } = await startFakeDatastores(t)

  const { code, stdout, stderr } = await berth('db', 'show', 'shop-db')

  assert.deepEqual([code, stderr], [0, ''])
  assert.equal(
    stdout,
    [
      'name           shop-db',
      'id             dst-shop-db',
      'kind           postgres 17',
      'status         available',
      'database       shop_db',
      'user           ada',
      'for services   shop-db:5432',
      'in their env   $' + '{{datastore.shop-db.connectionString}}',
      'on this host   port 25001',
      'with password  berth db url shop-db',
      'memory         default',
      'cpu            default',
      'backups        no scheduled backups',
      'created        3h ago\n',
    ].join('\n'),
  )
})

test('db show prints why a datastore is unavailable, and when it is retried', async (t) => {
  const { berth } = await startFakeDatastores(t)
  const failed = (await berth('db', 'show', 'lost')).stdout
  assert.match(
    failed,
    /^status +failed\nerror +there is no image postgres:99\nnext attempt +in [12]m( \d+s)?$/m,
  )
  assert.doesNotMatch(failed, /on this host/)
  assert.match((await berth('db', 'show', 'starting')).stdout, /^status +creating, pulling$/m)
  assert.match((await berth('db', 'show', 'cache')).stdout, /^note +the host has 2 CPUs.*\n(?!database)user/m)
})

test('db url prints only the address, for the host or for services', async (t) => {
  const { berth } = await startFakeDatastores(t)
  const said = [await berth('db', 'url', 'shop-db'), await berth('db', 'url', 'shop-db', '--internal')]
  assert.deepEqual(
    said.map(({ code, stdout, stderr }) => [code, stdout, stderr]),
    [shop.external_url, shop.internal_url].map((url) => [0, `${url}\n`, '']),
  )
  assert.deepEqual(JSON.parse((await berth('db', 'url', 'shop-db', '--json')).stdout), {
    url: shop.external_url,
  })
  assert.deepEqual(await berth('db', 'url', 'lost'), {
    code: 1,
    stdout: '',
    stderr: ' ✘ lost has no address yet\n   berth db show lost\n',
  })
})

test('Tab completes the commands of db and the names of datastores, not of services', async (t) => {
  const { berth } = await startFakeDatastores(t, ({ path }) => ({
    body: path.endsWith('/datastores') ? all : [{ name: 'web' }],
  }))
  const complete = async (...words: string[]) =>
    (await berth('complete', '--', ...words)).stdout.split('\n').filter(Boolean)

  assert.deepEqual(await complete('db', 'u'), ['url', 'update', 'upgrade'])
  for (const command of ['show', 'url', 'update', 'upgrade', 'restart', 'rm']) {
    assert.deepEqual(await complete('db', command, ''), ['cache', 'lost', 'shop-db', 'starting'], command)
  }
  assert.deepEqual(await complete('db', 'url', '--internal', 's'), ['shop-db', 'starting'])
  assert.deepEqual(await complete('db', 'update', '--memory', '64', 'c'), ['cache'])
  assert.deepEqual(await complete('db', 'show', 'shop-db', ''), [])
  assert.deepEqual(await complete('db', 'create', ''), [])
  assert.deepEqual(await complete('show', ''), ['web'])
})

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
