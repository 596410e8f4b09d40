// The trash in the API: what a deletion puts there, what it says, and what becomes of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../support/daemon/service.ts'
import { startDatastores } from '../../support/http/datastore-api.ts'
import { serviceRow } from '../../support/storage/store-fixtures.ts'
import { eventually } from '../../support/supervisor/supervision.ts'

type Started = Awaited<ReturnType<typeof startDatastores>>
type Entry = Record<string, unknown>

const entriesOf = async ({ call }: Started) => (await call('GET', '/trash')).body as unknown as Entry[]

const trashed = (api: Started, id: string): Promise<Entry> =>
  until('it to be in the trash', async () => {
    const entries = await entriesOf(api)
    return entries.find((entry) => entry.id === id && entry.status === 'kept')
  })

test('a deleted datastore is in the trash immediately, and can be restored', async (t) => {
  let go = () => {}
  const held = new Promise<void>((resolve) => {
    go = resolve
  })
  const api = await startDatastores(t, {
    saveDatastore: async () => {
      await held
      return { at: new Date().toISOString(), isGood: true }
    },
  })
  const { id } = await api.make({ name: 'shop-db' })
  assert.equal((await api.call('DELETE', '/datastores/shop-db')).status, 204)
  const [entry] = await entriesOf(api)
  assert.deepEqual([entry?.id, entry?.name, entry?.status], [id, 'shop-db', 'deleting'])
  assert.deepEqual(await api.refused('POST', `/trash/${id}/restore`, {}), [409, 'conflict'])
  go()
  assert.match(String((await trashed(api, id)).backup_id), /^bak-/)

  const { body } = await api.call('POST', `/trash/${id}/restore`, {})

  assert.deepEqual(body, { id, kind: 'datastore', name: 'shop-db' })
  assert.deepEqual(await entriesOf(api), [])
  assert.equal((await api.call('GET', '/datastores/shop-db')).body.id, id)
})

test('a repeated restore gets the first response with its key, and 404 without', async (t) => {
  const api = await startDatastores(t)
  const { id } = await api.make({ name: 'shop-db' })
  await api.call('DELETE', '/datastores/shop-db')
  await trashed(api, id)
  const requested = { headers: { 'idempotency-key': 'once' } }
  const restore = () => api.call('POST', `/trash/${id}/restore`, { name: 'other' }, requested)

  const first = await restore()
  const second = await restore()

  assert.deepEqual([first.status, first.body.name], [200, 'other'])
  assert.deepEqual([second.status, second.body], [200, first.body])
  assert.equal(second.headers.get('idempotency-replayed'), 'true')
  assert.deepEqual(await api.refused('POST', `/trash/${id}/restore`, {}), [404, 'not_found'])
})

test('a name in use by a datastore or service is refused with the remedy', async (t) => {
  const api = await startDatastores(t)
  const { id } = await api.make({ name: 'shop-db' })
  await api.call('DELETE', '/datastores/shop-db')
  await trashed(api, id)
  await api.create({ name: 'shop-db' })

  const { status, body } = await api.call('POST', `/trash/${id}/restore`, {})

  assert.deepEqual([status, body.code], [409, 'name_taken'])
  assert.equal(body.hint, `berth trash restore ${id} --name NEW restores it under another name`)
  assert.deepEqual(await api.refused('POST', `/trash/${id}/restore`, { name: 'No!' }), [
    400,
    'invalid_request',
    'name invalid_format',
  ])
  assert.equal((await api.call('POST', `/trash/${id}/restore`, { name: 'old-db' })).status, 200)
})

test('a purge at the deletion or later leaves nothing in the trash', async (t) => {
  const api = await startDatastores(t)
  const [{ id: now }, { id: later }] = [await api.make({ name: 'now' }), await api.make({ name: 'later' })]
  await api.call('DELETE', '/datastores/now?purge=true')
  await api.call('DELETE', '/datastores/later')
  await trashed(api, later)

  assert.equal((await api.call('DELETE', `/trash/${later}`)).status, 204)

  await eventually('both to be gone', () => api.storage.datastores.listAll().length === 0)
  assert.deepEqual(await entriesOf(api), [])
  assert.deepEqual(await api.refused('DELETE', `/trash/${now}`), [404, 'not_found'])
})

test('with --trash-days 0 nothing is retained', async (t) => {
  const api = await startDatastores(t)
  api.context.config.trashDays = 0
  await api.make({ name: 'shop-db' })
  await api.call('DELETE', '/datastores/shop-db')
  await eventually('it to be gone', () => api.storage.datastores.listAll().length === 0)
  assert.deepEqual(await entriesOf(api), [])
  assert.equal((await api.call('GET', '/info')).body.trash_days, 0)
})

test('the disk of an existing service is in use, and an unknown disk is not found', async (t) => {
  const api = await startDatastores(t)
  await api.storage.services.create(serviceRow({ id: 'svc-1', name: 'web' }))
  api.context.observe.disks = async () => [{ name: 'berth-svc-1', serviceId: 'svc-1', serviceName: 'web' }]

  const { status, body } = await api.call('DELETE', '/disks/berth-svc-1?purge=true')

  assert.deepEqual([status, body.code], [409, 'in_use'])
  assert.equal(body.hint, 'berth delete web --delete-disk deletes both')
  assert.deepEqual(await api.refused('DELETE', '/disks/other'), [404, 'not_found'])
})

test('the disk of a service is in the trash as soon as the deletion returns', async (t) => {
  const api = await startDatastores(t)
  const rows = { web: '/data', worker: null }
  for (const [name, disk_mount_path] of Object.entries(rows)) {
    await api.storage.services.create(serviceRow({ id: `svc-${name}`, name, disk_mount_path }))
    assert.equal((await api.call('DELETE', `/services/${name}?delete_disk=true`)).status, 204)
  }

  const entries = await entriesOf(api)

  const [{ id }] = entries as [Entry]
  assert.deepEqual(
    entries.map(({ kind, name, status, service_name }) => [kind, name, status, service_name]),
    [['disk', 'berth-svc-web', 'deleting', 'web']],
  )
  assert.deepEqual(await api.refused('POST', `/trash/${id}/restore`, {}), [409, 'conflict'])
  assert.deepEqual(await api.refused('DELETE', `/trash/${id}`), [409, 'conflict'])
})

test('a disk that is kept or purged with its service is not in the trash', async (t) => {
  const api = await startDatastores(t)
  for (const [name, query] of Object.entries({ kept: '', purged: '?delete_disk=true&purge=true' })) {
    await api.storage.services.create(serviceRow({ id: `svc-${name}`, name, disk_mount_path: '/data' }))
    assert.equal((await api.call('DELETE', `/services/${name}${query}`)).status, 204)
  }
  assert.deepEqual(await entriesOf(api), [])
})
