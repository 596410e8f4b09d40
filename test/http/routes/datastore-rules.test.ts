// What a datastore may be asked to be: the rules of its fields, one by one, and names that are taken.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Failure } from '../../../src/errors.ts'
import { datastoreOf, fails, startDatastores } from '../../support/http/datastore-api.ts'
import type { TestEffect } from '../../support/machines/machine-run.ts'
import { once, waits } from '../../support/machines/machine-run.ts'

const postgres = { kind: 'postgres', name: 'shop-db' }
const redis = { kind: 'redis', name: 'cache' }

const bad: Record<string, [body: unknown, ...fields: string[]]> = {
  'no body': [undefined, 'kind', 'name'],
  'a password of one’s own': [{ ...postgres, password: 'canary' }, 'password'],
  'a name with capitals': [{ ...postgres, name: 'Shop' }, 'name'],
  'a name that looks like an id': [{ ...postgres, name: `dst-${'0'.repeat(26)}` }, 'name'],
  'the name localhost': [{ ...postgres, name: 'localhost' }, 'name'],
  'a version that is a word': [{ ...postgres, version: 'latest' }, 'version'],
  'a version that ends with a dot': [{ ...postgres, version: '17.' }, 'version'],
  'a database with a dash': [{ ...postgres, database: 'shop-db' }, 'database'],
  'a database of 64 characters': [{ ...postgres, database: 'a'.repeat(64) }, 'database'],
  'a template of Postgres as database': [{ ...postgres, database: 'template1' }, 'database'],
  'a user of the system’s': [{ ...postgres, username: 'pg_monitor' }, 'username'],
  'everybody as user': [{ ...postgres, username: 'Public' }, 'username'],
  'a missing user': [{ ...postgres, username: 'none' }, 'username'],
  'a user of Redis': [{ ...redis, username: 'ada' }, 'username'],
  'both of Redis': [{ ...redis, database: 'cache', username: 'ada' }, 'database', 'username'],
  'memory below 16': [{ ...redis, memory_limit_mb: 15 }, 'memory_limit_mb'],
  'too little of a CPU': [{ ...redis, cpu_limit: 0.009 }, 'cpu_limit'],
  'a good limit beside a bad one': [{ ...redis, memory_limit_mb: 64, cpu_limit: 1000 }, 'cpu_limit'],
}

test('an invalid creation is 400, names each invalid field, and creates nothing', async (t) => {
  const { call, storage } = await startDatastores(t)

  for (const [what, [body, ...fields]] of Object.entries(bad)) {
    const response = await call('POST', '/datastores', body)
    const named = ((response.body.errors ?? []) as { path: string }[]).map(({ path }) => path)
    assert.deepEqual([what, response.status, response.body.code], [what, 400, 'invalid_request'])
    assert.deepEqual([what, ...new Set(named)].sort(), [what, ...fields].sort())
    assert.ok(!response.text.includes('canary'), what)
  }
  assert.deepEqual((await call('GET', '/datastores')).body, [])
  assert.deepEqual([...storage.actors.active('datastore')], [])
})

test('the largest and smallest allowed values are accepted, and null means the default', async (t) => {
  const { make } = await startDatastores(t)
  const longest = `a${'-'.repeat(38)}z`
  const nothing = { version: null, database: null, username: null, memory_limit_mb: null, cpu_limit: null }

  const small = await make({ name: 'a', version: '9', database: '_', username: 'u' })
  const large = await make({
    name: longest,
    version: '1234567890.12345',
    database: 'd'.repeat(63),
    username: 'u'.repeat(63),
  })
  const plain = await make({ name: 'plain', ...nothing })
  const plainRedis = await make({ ...redis, ...nothing })

  assert.deepEqual([small.name, small.version, small.database, small.username], ['a', '9', '_', 'u'])
  assert.deepEqual([large.name, large.version], [longest, '1234567890.12345'])
  assert.deepEqual([large.database, large.username], ['d'.repeat(63), 'u'.repeat(63)])
  assert.deepEqual([plain.version, plain.database, plain.username], ['17', 'plain', 'plain'])
  assert.deepEqual([plainRedis.version, plainRedis.database], ['8', null])
})

test('a default that is a reserved name of Postgres is replaced', async (t) => {
  const { make } = await startDatastores(t)
  const made: (string | null)[][] = []
  for (const body of [
    { name: 'template1' },
    { name: 'pg-main' },
    { name: 'public' },
    { name: 'by-user', database: 'pg_own' },
    { name: 'long', database: `pg_${'x'.repeat(60)}` },
  ]) {
    const { name, database, username } = await make(body)
    made.push([name, database, username])
  }
  assert.deepEqual(made, [
    ['template1', 'db_template1', 'db_template1'],
    ['pg-main', 'pg_main', 'user_pg_main'],
    ['public', 'public', 'user_public'],
    ['by-user', 'pg_own', 'user_pg_own'],
    ['long', `pg_${'x'.repeat(60)}`, `user_pg_${'x'.repeat(55)}`],
  ])
})

test('services and datastores share one namespace', async (t) => {
  const { call, create, make, refused } = await startDatastores(t)
  await make(postgres)
  await create({ name: 'web' })

  assert.deepEqual(await refused('POST', '/datastores', postgres), [409, 'name_taken'])
  assert.deepEqual(await refused('POST', '/datastores', { ...redis, name: 'web' }), [409, 'name_taken'])
  assert.deepEqual(await refused('POST', '/services', { name: 'shop-db' }), [409, 'name_taken'])

  assert.equal((await call('GET', '/datastores/web')).status, 404)
  assert.equal((await call('GET', '/services/shop-db')).status, 404)
})

test('a name is free for both when its datastore is deleted', async (t) => {
  const { call, create, make, storage } = await startDatastores(t)
  const previous = await make(postgres)
  const gone = new Promise<void>((resolve) => {
    storage.changes.subscribe(({ id, status }) => id === previous.id && status === 'trashed' && resolve())
  })
  await call('DELETE', '/datastores/shop-db')
  await gone

  const again = await make(postgres)
  assert.notEqual(again.id, previous.id)
  assert.notEqual(again.password, previous.password)
  assert.equal((await call('GET', `/datastores/${previous.id}`)).status, 404)
  assert.equal((await create({ name: 'web' })).name, 'web')
})

test('a creation is refused if a volume of that name exists, with the remedy', async (t) => {
  const { call, context, storage } = await startDatastores(t)
  const hint = 'docker volume rm berth-datastore-shop-db deletes it and its data; or choose another name'
  const requests: string[] = []
  context.observe.assertVolumeFree = async (name) => {
    requests.push(name)
    throw new Failure('conflict', 'the volume berth-datastore-shop-db exists already', hint)
  }

  const { status, body } = await call('POST', '/datastores', postgres)

  assert.deepEqual([status, body.code, body.hint], [409, 'conflict', hint])
  assert.deepEqual(requests, ['shop-db'])
  assert.ok(storage.datastores.isFree('shop-db'))
})

const path = '/datastores/shop-db'
const at = () => new Date().toISOString()
const succeeds: TestEffect = async () => ({ at: at(), notice: null })

/** One that is there, and the limits that its container was given, in order. */
async function start(t: TestContext, effects: Record<string, TestEffect> = {}) {
  const given: unknown[][] = []
  const { applyLimits = succeeds, ...others } = effects
  const api = await startDatastores(t, {
    applyLimits: (input, signal) => {
      given.push([input.memoryMb, input.cpus])
      return applyLimits(input, signal)
    },
    ...others,
  })
  const datastore = await api.make({ name: 'shop-db', memory_limit_mb: 64, cpu_limit: 1 })
  const patch = (body: unknown) => api.call('PATCH', path, body)
  const limits = async () => {
    const { memory_limit_mb, cpu_limit } = datastoreOf(await api.call('GET', path))
    return [memory_limit_mb, cpu_limit]
  }
  return { ...api, made: datastore, patch, limits, given }
}

test('an omitted or null limit is unchanged; 0 is the default of the server', async (t) => {
  const { patch, limits, given } = await start(t)

  const responses: unknown[] = []
  for (const body of [
    { memory_limit_mb: 128 },
    { cpu_limit: 2, memory_limit_mb: null },
    { memory_limit_mb: 0 },
    { cpu_limit: 0, memory_limit_mb: 1_048_576 },
    { memory_limit_mb: 16, cpu_limit: 0.01 },
    { cpu_limit: 512 },
  ]) {
    const { status, body: answer } = await patch(body)
    responses.push([status, answer.memory_limit_mb, answer.cpu_limit])
  }

  const expected = [
    [128, 1],
    [128, 2],
    [null, 2],
    [1_048_576, null],
    [16, 0.01],
    [16, 512],
  ]
  assert.deepEqual(
    responses,
    expected.map((pair) => [200, ...pair]),
  )
  assert.deepEqual(given, expected)
  assert.deepEqual(await limits(), [16, 512])
})

test('an empty PATCH applies the stored limits again, and keeps them', async (t) => {
  const { patch, limits, given } = await start(t)
  for (const body of [{}, undefined]) assert.equal((await patch(body)).status, 200)
  assert.deepEqual(given, [
    [64, 1],
    [64, 1],
  ])
  assert.deepEqual(await limits(), [64, 1])
})

test('limits beyond the host are reported until they fit', async (t) => {
  const notice = 'the host has 2 CPUs: cpu_limit 512 is capped at 2'
  const { patch } = await start(t, {
    applyLimits: async ({ cpus }) => ({ at: at(), notice: cpus === 512 ? notice : null }),
  })
  const wide = (await patch({ cpu_limit: 512 })).body
  assert.deepEqual([wide.cpu_limit, wide.notice], [512, notice])
  assert.equal((await patch({ cpu_limit: 1 })).body.notice, null)
})

for (const [code, status, reason] of [
  ['docker_error', 502, 'Your kernel does not support memory limit capabilities'],
  ['docker_unavailable', 503, 'Docker does not respond'],
  ['not_foreseen', 502, 'it went wrong'],
] as const) {
  test(`limits refused with ${code} are saved, and the ${status} response reports both`, async (t) => {
    const { patch, limits, given, call } = await start(t, {
      applyLimits: once(fails(code, reason), succeeds),
    })

    const response = await patch({ memory_limit_mb: 16 })

    assert.equal(response.status, status)
    assert.equal(response.body.code, status === 502 ? 'docker_error' : 'docker_unavailable')
    assert.equal(response.body.detail, `limits of 'shop-db' saved, but applying them failed: ${reason}`)
    assert.deepEqual(await limits(), [16, 1])
    assert.equal((await call('GET', path)).body.status, 'available')
    assert.equal((await patch({})).status, 200)
    assert.deepEqual(given, [
      [16, 1],
      [16, 1],
    ])
  })
}

test('limits of a failed datastore are saved and applied immediately, and its status stays', async (t) => {
  const noImage = fails('image_missing', 'there is no image postgres:17')
  const { patch, made: datastore } = await start(t, { obtainImage: noImage })
  assert.equal(datastore.status, 'failed')

  const { status, body } = await patch({ memory_limit_mb: 128 })

  assert.deepEqual(
    [status, body.status, body.error, body.memory_limit_mb],
    [200, 'failed', 'there is no image postgres:17', 128],
  )
})

test('limits of a datastore that is being deleted are 409, and change nothing', async (t) => {
  const { patch, limits, call } = await start(t, { trashDatastore: waits })
  await call('DELETE', path)

  for (const body of [{ memory_limit_mb: 128 }, {}]) {
    const response = await patch(body)
    assert.deepEqual(
      [response.status, response.body.code, response.body.detail],
      [409, 'conflict', 'shop-db is being deleted'],
    )
  }
  assert.deepEqual(await limits(), [64, 1])
})
