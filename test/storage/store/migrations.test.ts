// The store's schema: each step runs once, in order and atomically, and a newer store is left unchanged.
import { deepEqual, rejects } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openFormerNames } from '../../../storage/former-names.ts'
import { type Migration, migrate } from '../../../storage/store/migrations.ts'
import { openStore } from '../../../storage/store/store.ts'
import { openTestStore, serviceRow } from '../../support/storage/store-fixtures.ts'
import { rowsOf } from '../../support/storage/table-rows.ts'
import { instant, temporaryStorage } from '../../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'
import { testMac } from '../../support/system/test-mac.ts'

/** A store of schema 1, with a row in it. */
async function oldStore(t: TestContext) {
  const store = openTestStore(t, temporaryDirectory(t))
  await migrate(store, testMac, [])
  await store.commit(() => store.table('rows').put('row', ['one']))
  return store
}

function step(name: string): Migration {
  return (store) => {
    const rows = store.table<string[]>('rows')
    rows.put('row', [...(rows.get('row') ?? []), name])
  }
}

test('each step runs once, in order, however often the store is opened', async (t) => {
  const store = await oldStore(t)

  await migrate(store, testMac, [step('two')])
  await migrate(store, testMac, [step('two'), step('three'), step('four')])
  await migrate(store, testMac, [step('two'), step('three'), step('four')])

  const read = [store.table('rows').get('row'), store.table('meta').get('schema')]
  deepEqual(read, [['one', 'two', 'three', 'four'], 4])
})

test('a new store starts with the newest schema and runs no step', async (t) => {
  const store = openTestStore(t, temporaryDirectory(t))

  await migrate(store, testMac, [step('two'), step('three')])

  deepEqual([store.table('rows').get('row'), store.table('meta').get('schema')], [null, 3])
})

test('a step that throws is rolled back, earlier steps stay, and the next start retries', async (t) => {
  const store = await oldStore(t)
  const broken: Migration = (migrated) => {
    step('half')(migrated, testMac)
    throw new Error('half way')
  }

  await rejects(migrate(store, testMac, [step('two'), broken, step('four')]), { message: 'half way' })
  deepEqual([store.table('rows').get('row'), store.table('meta').get('schema')], [['one', 'two'], 2])
  await migrate(store, testMac, [step('two'), step('three'), step('four')])

  deepEqual(store.table('rows').get('row'), ['one', 'two', 'three', 'four'])
})

test('a step may add a table', async (t) => {
  const store = await oldStore(t)

  await migrate(store, testMac, [(migrated) => migrated.table('fresh').put('a', 1)])

  deepEqual(rowsOf(store.table('fresh')), [{ key: 'a', value: 1 }])
})

test('a store of a newer version is refused and unchanged', async (t) => {
  const directory = temporaryDirectory(t)
  const newer = openStore(directory, { onPanic: t.assert.fail })
  await migrate(newer, testMac, [step('two'), step('three')])
  await newer.close()
  const store = openTestStore(t, directory)

  await rejects(migrate(store, testMac, [step('two')]), {
    code: 'store_too_new',
    message: 'the data directory has schema 3, this version of Berth knows up to 2',
  })

  deepEqual([store.table('meta').get('schema'), store.table('rows').get('row')], [3, null])
})

test('a service of schema 1 is unchanged, with later settings off', async (t) => {
  const store = await oldStore(t)
  const { spa_fallback, pre_deploy_command, build_env, archive_deploy_id, ...known } = serviceRow()
  const { hsts, request_timeout_seconds, max_body_mb, ...old } = known
  await store.commit(() => store.table('services').put('svc-1', old))

  await migrate(store, testMac)

  const later = {
    auto_deploy: false,
    spa_fallback: false,
    pre_deploy_command: null,
    build_env: [],
    archive_deploy_id: null,
  }
  deepEqual(store.table('services').get('svc-1'), { ...old, ...later, ...atEdge })
})

test('a token of schema 3 becomes an admin token without a limit', async (t) => {
  const store = await oldStore(t)
  const old = {
    id: 'tok-1',
    name: 'ci',
    hint: '1234',
    expires_at: null,
    created_at: instant,
    last_used_at: null,
  }
  await store.commit(() => store.table('tokens').put('hash', old))

  await migrate(store, testMac)

  deepEqual(store.table('tokens').get('hash'), { ...old, role: 'admin', services: null })
})

test('an image of schema 4 gets its MAC in what its own service stored, and nowhere else', async (t) => {
  const store = await oldStore(t)
  const [ours, theirs] = ['dep-01hzy7k9m00000000000000001', 'dep-01hzy7k9m00000000000000002']
  const [image, foreign] = [`berth/web:${ours}`, `berth/shop:${theirs}`]
  const run = (named: object) => ({ kind: 'job-run', service_id: 'svc-1', snapshot: { context: named } })
  await store.commit(() => {
    const rows = store.table('actors')
    rows.put(ours, { kind: 'deploy', service_id: 'svc-1' })
    rows.put(theirs, { kind: 'deploy', service_id: 'svc-2' })
    rows.put('job-1', run({ image, command: foreign }))
    rows.put('job-2', run({ image, command: `echo ${image}` }))
    store.table('records').put('job-1', { id: 'job-1', image })
  })

  await migrate(store, testMac)

  const named = `${image}-${testMac(`image ${ours}`)}`
  deepEqual(store.table('actors').get('job-1'), run({ image: named, command: foreign }))
  deepEqual(store.table('actors').get('job-2'), run({ image: named, command: `echo ${image}` }))
  deepEqual(store.table('records').get('job-1'), { id: 'job-1', image: named })
  deepEqual(openFormerNames(store).areExpected(), true)
})

const atEdge = { hsts: false, request_timeout_seconds: 75, max_body_mb: 512 }

test('a service of schema 2 gets the limits of the edge and an index of its domains', async (t) => {
  const directory = temporaryDirectory(t)
  const store = openStore(directory, { onPanic: t.assert.fail })
  const { hsts, request_timeout_seconds, max_body_mb, ...old } = serviceRow()
  const plain = { ...old, id: 'svc-2', name: 'api' }
  await migrate(store, testMac, [() => undefined])
  await store.commit(() => {
    for (const row of [{ ...old, custom_domains: ['shop.example.com'] }, plain]) {
      store.table('services').put(row.id, row)
      store.table('names').put(row.name, { kind: 'service', id: row.id })
    }
  })
  await store.close()

  const { services } = await temporaryStorage(t, directory)

  const later = { ...atEdge, auto_deploy: false }
  const shop = { ...old, ...later, custom_domains: ['shop.example.com'] }
  deepEqual(services.list(), [{ ...plain, ...later }, shop])
  deepEqual(services.holderOf('shop.example.com'), 'svc-1')
})
