// A flipped bit in one row: readers of the row report it, redundant data replace it, and the
// rest is unaffected.
import { deepEqual, doesNotThrow, equal, rejects, throws } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Key } from 'lmdb'
import type { ActorRow } from '../../storage/actors/actors.ts'
import { openStorage, type Storage } from '../../storage/index.ts'
import { flipBit, openTestStore, serviceRow, transitionOf } from '../support/storage/store-fixtures.ts'
import { instant } from '../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const range = { first: '10.201.0.2', last: '10.201.0.5' }
const addressOf = (last: number) => 10 * 2 ** 24 + 201 * 2 ** 16 + last

/** A storage that was filled, closed and damaged in these rows, with its reports of the damage. */
async function damagedStorage(
  t: TestContext,
  fill: (storage: Storage) => Promise<unknown>,
  rows: [table: string, key: Key][],
) {
  const directory = temporaryDirectory(t)
  const first = await openStorage(directory, { onPanic: t.assert.fail })
  await fill(first)
  await first.close()
  for (const [table, key] of rows) await flipBit(directory, table, key)
  const reports: string[] = []
  const toRecord = ({ id, revision }: ActorRow) => ({ id, status: 'made again', revision })
  const options = { onPanic: t.assert.fail, onDamage: (text: string) => reports.push(text), toRecord }
  const storage = await openStorage(directory, options)
  t.after(() => storage.close())
  return { directory, storage, told: reports }
}

const refused = { code: 'row_damaged' }

test('damage is reported once per row, with the name of the row', async (t) => {
  const fill = async ({ env }: Storage) => {
    for (const id of ['svc-1', 'svc-2', 'svc-3']) await env.change(id, () => [{ key: 'A', value: id }])
  }
  const { storage, told: reports } = await damagedStorage(t, fill, [
    ['env', 'svc-1'],
    ['env', 'svc-2'],
  ])

  for (const id of ['svc-1', 'svc-1', 'svc-2']) throws(() => storage.env.get(id), refused)

  const damage = (id: string) => `the row "${id}" of table env fails its checksum`
  deepEqual(reports, [damage('svc-1'), damage('svc-2')])
  deepEqual(storage.env.get('svc-3'), [{ key: 'A', value: 'svc-3' }])
})

test('a damaged record is rebuilt from the snapshot, and a parked actor is still failed', async (t) => {
  const fill = async ({ actors }: Storage) => {
    for (const id of ['dep-1', 'dep-2', 'dep-3']) await actors.create(transitionOf({ id }))
    await actors.park('dep-2', 'it kept failing', instant)
  }
  const rows: [string, Key][] = ['dep-1', 'dep-2', 'dep-3'].map((id) => ['records', id])
  const { storage } = await damagedStorage(t, fill, [...rows, ['actors', 'dep-3']])

  const unknown = { revision: 0, by: null }
  deepEqual(storage.actors.list('deploy', 'svc-1', 3), [
    { id: 'dep-3', status: 'failed', error: 'internal: the record of this actor is damaged', ...unknown },
    { id: 'dep-2', status: 'failed', revision: 2, error: 'internal: it kept failing' },
    { id: 'dep-1', status: 'made again', revision: 1 },
  ])
  equal(storage.actors.record('dep-9'), null)
})

test('a damaged service hides no other; one with a damaged name is found by its id', async (t) => {
  const fill = async ({ services }: Storage) => {
    for (const name of ['shop', 'api', 'web']) await services.create(serviceRow({ id: `svc-${name}`, name }))
  }
  const { storage } = await damagedStorage(t, fill, [
    ['services', 'svc-shop'],
    ['names', 'web'],
  ])
  const { services } = storage

  deepEqual(
    services.list().map(({ name }) => name),
    ['api', 'web'],
  )
  for (const known of ['shop', 'svc-shop', 'web']) throws(() => services.get(known), refused)
  deepEqual([services.get('svc-web')?.name, services.get('nobody')], ['web', null])
  for (const [name, code] of Object.entries({ web: 'row_damaged', shop: 'name_taken' })) {
    await rejects(services.create(serviceRow({ id: 'svc-new', name })), { code })
  }
  await services.remove('svc-web')
  equal((await services.create(serviceRow({ id: 'svc-new', name: 'web' }))).id, 'svc-new')
})

test('an address is recovered from either of its two rows, and can be released', async (t) => {
  const fill = async ({ addresses }: Storage) => {
    for (const index of [0, 1, 2]) await addresses.allocate('dep-1', index, range)
  }
  const { storage } = await damagedStorage(t, fill, [
    ['deploy_addresses', ['dep-1', 0]],
    ['addresses', addressOf(3)],
    ['deploy_addresses', ['dep-1', 2]],
    ['addresses', addressOf(4)],
    ['last_address', 'last'],
  ])
  const { addresses } = storage

  deepEqual(
    [0, 1, 2].map((index) => addresses.get('dep-1', index)),
    ['10.201.0.2', '10.201.0.3', null],
  )
  equal(await addresses.allocate('dep-1', 0, range), '10.201.0.2')
  deepEqual(addresses.deployIds(), ['dep-1'])
  equal(await addresses.allocate('dep-2', 0, range), '10.201.0.5')
  await addresses.release('dep-1')
  deepEqual(addresses.deployIds(), ['dep-2'])
})

test('a damaged row of other tables is an error with its name, and a new value replaces it', async (t) => {
  const ada = { username: 'ada', password: 'secret', origin: 'https://example.com' }
  const { id, name, ...settings } = serviceRow()
  const domain = 'shop.example.com'
  const fill = async ({ buildCaches, credentials, events, registries, releases, services }: Storage) => {
    await services.create(serviceRow({ custom_domains: [domain] }), {
      also: () => credentials.put('svc-1', ada),
    })
    await services.create(serviceRow({ id: 'svc-2', name: 'api' }))
    await registries.put('example.com', ada, instant)
    await buildCaches.renew('svc-1')
    await events.record('key-1', instant, { id: 'svc-1' })
    await releases.freeze('dep-1', () => ({ settings, env: [], resolved: null }))
  }
  const { storage } = await damagedStorage(t, fill, [
    ['registries', 'example.com'],
    ['credentials', 'svc-1'],
    ['build_caches', 'svc-1'],
    ['events', 'key-1'],
    ['releases', 'dep-1'],
    ['domains', domain],
  ])
  const { buildCaches, commit, credentials, events, registries, releases, services } = storage
  const claim = (id: string, ...custom_domains: string[]) =>
    services.update(id, (row) => ({ ...row, custom_domains }))

  const reads: Record<string, () => unknown> = {
    registries: () => registries.get('example.com'),
    credentials: () => credentials.get('svc-1'),
    build_caches: () => buildCaches.namespaceOf('svc-1'),
    events: () => events.get('key-1'),
    releases: () => releases.get('dep-1'),
    domains: () => claim('svc-2', domain),
  }
  for (const [table, read] of Object.entries(reads)) {
    const message = new RegExp(`^the row ".+" of table ${table} fails its checksum$`)
    await rejects(async () => read(), { ...refused, message })
  }
  deepEqual(registries.list(), [])
  await registries.put('example.com', ada, instant)
  await commit(() => credentials.put('svc-1', ada))
  await buildCaches.renew('svc-1')
  await releases.freeze('dep-1', () => ({ settings, env: [], resolved: null }))
  await claim('svc-1')
  await claim('svc-2', domain)
  await events.record('key-1', instant, { id: 'svc-1' })
  for (const read of Object.values(reads)) await read()
})

for (const key of ['schema', 'schema_copy']) {
  test(`a directory opens with one of two rows damaged: ${key}`, async (t) => {
    const rows: [string, Key][] = [
      ['meta', key],
      ['server', key === 'schema' ? 'id' : 'id_copy'],
      ['key_check', key === 'schema' ? 'check' : 'check_copy'],
    ]
    const before: string[] = []
    const fill = async ({ serverId }: Storage) => before.push(serverId)
    const { directory, storage } = await damagedStorage(t, fill, rows)
    equal(storage.serverId, before[0])
    await storage.close()
    const store = openTestStore(t, directory)
    for (const [table, key] of rows) doesNotThrow(() => store.table(table).get(key), 'it is right again')
  })
}

test('a directory whose schema is damaged in both rows is refused', async (t) => {
  const directory = temporaryDirectory(t)
  await (await openStorage(directory, { onPanic: t.assert.fail })).close()
  for (const key of ['schema', 'schema_copy']) await flipBit(directory, 'meta', key)

  await rejects(openStorage(directory, { onPanic: t.assert.fail }), refused)
})
