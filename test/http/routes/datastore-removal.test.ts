// Who refers to a datastore, whether their references lead somewhere, and what its deletion does about them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HttpContext } from '../../../src/http/pipeline/context.ts'
import type { Storage } from '../../../storage/index.ts'
import { fails, startDatastores, waits } from '../../support/http/datastore-api.ts'
import { eventually } from '../../support/supervisor/supervision.ts'

const reference = (inner: string) => `$\{{${inner}}}`
const path = '/datastores/shop-db'

test('a datastore in use is not deleted: each variable that refers to it is named', async (t) => {
  const { call, create, make } = await startDatastores(t)
  await make({ name: 'shop-db' })
  await make({ name: 'shop-db2' })
  await create({
    name: 'web',
    env: [
      { key: 'DATABASE_URL', value: reference('datastore.shop-db.connectionString') },
      { key: 'OTHER', value: reference('datastore.shop-db2.host') },
      { key: 'PARTS', value: `a ${reference(' datastore.shop-db.user ')} b` },
      { key: 'PLAIN', value: `$${reference('datastore.shop-db.host')} datastore.shop-db.host` },
      { key: 'SERVICE', value: reference('service.shop-db.host') },
    ],
  })
  await create({ name: 'api', env: [{ key: 'PGPASSWORD', value: reference('datastore.shop-db.password') }] })

  const { status, body } = await call('DELETE', path)

  assert.deepEqual([status, body.code], [409, 'in_use'])
  assert.equal(body.detail, 'shop-db is in use by api, web')
  assert.equal(body.hint, 'berth db rm shop-db --force deletes it anyway')
  assert.deepEqual(
    body.errors,
    ['api.PGPASSWORD', 'web.DATABASE_URL', 'web.PARTS'].map((where) => ({
      path: where,
      code: 'reference',
      message: 'refers to shop-db',
    })),
  )
  assert.equal((await call('GET', path)).body.status, 'available')
})

test('a datastore in use is deleted with force, or once its references are gone', async (t) => {
  const { call, create, make, refused } = await startDatastores(t)
  for (const name of ['shop-db', 'cache']) {
    await make({ name })
    await create({ name: `of-${name}`, env: [{ key: 'A', value: reference(`datastore.${name}.host`) }] })
  }
  assert.deepEqual(await refused('DELETE', path), [409, 'in_use', 'of-shop-db.A reference'])
  assert.deepEqual(await refused('DELETE', '/datastores/shop-db?force=false'), [
    409,
    'in_use',
    'of-shop-db.A reference',
  ])

  assert.equal((await call('DELETE', `${path}?force=true`)).status, 204)
  await call('PUT', '/services/of-cache/env', { vars: [] })
  assert.equal((await call('DELETE', '/datastores/cache')).status, 204)
})

test('a datastore being deleted shows that, rejects restarts, and can be deleted again', async (t) => {
  const { call, create, make, refused } = await startDatastores(t, { trashDatastore: waits })
  await make({ name: 'shop-db' })

  assert.equal((await call('DELETE', path)).status, 204)

  assert.equal((await call('GET', path)).body.status, 'deleting')
  assert.deepEqual(await refused('POST', `${path}/restart`), [409, 'conflict'])
  assert.deepEqual(await refused('POST', '/datastores', { kind: 'redis', name: 'shop-db' }), [
    409,
    'name_taken',
  ])
  await create({ name: 'late', env: [{ key: 'A', value: reference('datastore.shop-db.host') }] })
  assert.equal((await call('DELETE', path)).status, 204)
})

test('a datastore can be deleted while it is being created, once it is on disk', async (t) => {
  const { call, context, make, storage } = await startDatastores(t, { obtainImage: waits })
  const onDisk = new Promise<string>((resolve) => void storage.changes.subscribe(({ id }) => resolve(id)))
  holdCreation(storage, context)
  const making = make({ name: 'shop-db' })
  const id = await onDisk

  assert.equal((await call('DELETE', `/datastores/${id}`)).status, 204)

  assert.equal((await making).status, 'deleting')
  await eventually('its name to be free', () => storage.datastores.isFree('shop-db'))
})

/** Its actor starts only after another request has arrived. */
function holdCreation({ actors }: Storage, context: HttpContext): void {
  let go = () => {}
  const held = new Promise<void>((resolve) => {
    go = resolve
  })
  const create = actors.create.bind(actors)
  actors.create = async (...input) => {
    await create(...input)
    await held
  }
  const { spawn, send } = context.actors
  const noting = <Result>(result: Result): Result => {
    setImmediate(go)
    return result
  }
  let spawns = 0
  context.actors = {
    ...context.actors,
    spawn: (...given) => (spawns++ === 0 ? spawn(...given) : noting(spawn(...given))),
    send: (...given) => noting(send(...given)),
  }
}

test('a datastore parked after a bug is restarted, limited and deleted like any other', async (t) => {
  const { call, make, storage } = await startDatastores(t)
  for (const [name, method, tail] of [
    ['a', 'POST', '/restart'],
    ['b', 'PATCH', ''],
    ['c', 'DELETE', ''],
  ] as const) {
    const { id } = await make({ name })
    await storage.actors.park(id, 'a bug', new Date().toISOString())
    const parked = (await call('GET', `/datastores/${name}`)).body
    assert.deepEqual([parked.status, parked.error], ['failed', 'internal: a bug'])

    const { status } = await call(method, `/datastores/${name}${tail}`, method === 'PATCH' ? {} : undefined)

    assert.ok(status < 300, `${method} ${status}`)
    await eventually(`${name} to go on`, () => storage.actors.record(id)?.status !== 'failed')
  }
})

test('a dry run lists references to missing datastores', async (t) => {
  const { call, create, make } = await startDatastores(t, {
    obtainImage: (input, signal) =>
      input.version === '99'
        ? fails('image_missing', 'there is none')(input, signal)
        : Promise.resolve({ at: new Date().toISOString() }),
    trashDatastore: waits,
  })
  await make({ name: 'shop-db' })
  await make({ name: 'cache', kind: 'redis' })
  await make({ name: 'never', version: '99' })
  await make({ name: 'leaving' })
  await call('DELETE', '/datastores/leaving')
  const { id } = (await call('GET', path)).body
  await create({ name: 'web' })
  const all = ['connectionString', 'externalConnectionString', 'host', 'port', 'user', 'password', 'database']
  const requests = [
    ...['shop-db', 'cache', 'never', 'leaving', 'web', 'nobody'].flatMap((name) =>
      all.map((property) => `datastore.${name}.${property}`),
    ),
    'datastore.shop-db.url',
    'datastore.shop-db.hostport',
    'datastore.shop-db.toString',
    `datastore.${id}.host`,
    'service.shop-db.host',
    'datastore.shop-db',
  ]
  const vars = requests.map((inner, index) => ({ key: `V${index}`, value: reference(inner) }))

  const { body } = await call('PUT', '/services/web/env?dry_run=true', { vars })

  const lost = (body.unresolved as string[]).map((key) => requests[Number(key.slice(1))])
  assert.deepEqual(
    lost.sort(),
    [
      ...['leaving', 'nobody', 'web'].flatMap((name) =>
        all.map((property) => `datastore.${name}.${property}`),
      ),
      'datastore.cache.database',
      'datastore.never.externalConnectionString',
      ...requests.slice(-6),
    ].sort(),
  )
  assert.deepEqual((await call('GET', '/services/web/env')).body, [])
})
