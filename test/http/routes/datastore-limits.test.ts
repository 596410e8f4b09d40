// Limits of a datastore: both or one, checked as a whole, applied whatever else goes on, and what is said
// when applying them fails although they are saved.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { datastoreOf, fails, once, startDatastores, waits } from '../../support/http/datastore-api.ts'
import type { TestEffect } from '../../support/machines/machine-run.ts'
import { eventually } from '../../support/supervisor/supervision.ts'

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

test('CPUs are rounded to hundredths, also near the minimum', async (t) => {
  const { patch, make } = await start(t)
  const rounded: unknown[] = []
  for (const cpu_limit of [0.25499, 0.255, 0.014, 1.999, 511.999, 1 / 3]) {
    rounded.push((await patch({ cpu_limit })).body.cpu_limit)
  }
  assert.deepEqual(rounded, [0.25, 0.26, 0.01, 2, 512, 0.33])
  assert.equal((await make({ name: 'other', cpu_limit: 0.129 })).cpu_limit, 0.13)
})

test('one invalid limit changes nothing, not even a valid one in the same request', async (t) => {
  const { call, patch, limits, given, made: datastore } = await start(t)
  const bad = [
    { memory_limit_mb: 15 },
    { memory_limit_mb: 128, cpu_limit: 513 },
    { memory_limit_mb: 1, cpu_limit: 2 },
    { memory_limit_mb: 128, name: 'other' },
    [],
  ]

  for (const body of bad) {
    const response = await patch(body)
    assert.deepEqual([response.status, response.body.code], [400, 'invalid_request'], JSON.stringify(body))
  }
  assert.deepEqual([await limits(), given], [[64, 1], []])
  assert.deepEqual(datastoreOf(await call('GET', path)), datastore)
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

test('two concurrent changes both apply, and each response shows the values after it', async (t) => {
  const { patch, limits, given } = await start(t)

  const responses = await Promise.all([patch({ memory_limit_mb: 128 }), patch({ cpu_limit: 2 })])

  assert.deepEqual(
    responses.map(({ status, body }) => [status, body.memory_limit_mb, body.cpu_limit]),
    Array(2).fill([200, 128, 2]),
  )
  assert.deepEqual(
    [await limits(), given.at(-1)],
    [
      [128, 2],
      [128, 2],
    ],
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

test('limits that are being applied during a deletion are 409 too', async (t) => {
  const {
    patch,
    call,
    storage,
    made: datastore,
  } = await start(t, { applyLimits: waits, trashDatastore: waits })

  const waiting = patch({ memory_limit_mb: 128 })
  await eventually(
    'the limits to be saved',
    () => storage.actors.record(datastore.id)?.memory_limit_mb === 128,
  )
  await call('DELETE', path)

  const { status, body } = await waiting
  assert.deepEqual([status, body.code, body.detail], [409, 'conflict', 'shop-db is being deleted'])
})
