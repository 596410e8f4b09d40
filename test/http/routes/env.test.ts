// Env variables, over HTTP and a real store.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { Failure } from '../../../src/errors.ts'
import { startApi } from '../../support/http/http-context.ts'
import { checkAnswer } from '../../support/http/openapi.ts'

const path = '/api/v1/services/web/env'
const reference = (inner: string) => `$\{{${inner}}}`

async function start(t: TestContext, env: { key: string; value: string }[] = [], more = {}) {
  const api = await startApi(t)
  const created = await api.call('POST', '/api/v1/services', { body: { name: 'web', env, ...more } })
  assert.equal(created.status, 201, created.text)
  const call = async (method: string, query = '', body?: unknown) => {
    const response = await api.call(method, `${path}${query}`, body === undefined ? {} : { body })
    checkAnswer(method, path, response.status, response.body)
    return response
  }
  return { ...api, created, call }
}

test('values come back byte for byte', async (t) => {
  const { call } = await start(t)
  const value = fc.string({ unit: 'binary' })

  await fc.assert(
    fc.asyncProperty(
      value.filter((text) => !text.includes('\0')),
      async (text) => {
        const vars = [{ key: 'A', value: text }]
        assert.deepEqual((await call('PUT', '', { vars })).body, vars)
        assert.deepEqual((await call('GET')).body, vars)
      },
    ),
    { numRuns: 30 },
  )
})

test('PUT replaces everything, PATCH removes first and then sets', async (t) => {
  const { call } = await start(t, [
    { key: 'B', value: '1' },
    { key: 'A', value: '1' },
  ])

  const patched = await call('PATCH', '', {
    set: [
      { key: 'B', value: '2' },
      { key: 'C', value: '3' },
    ],
    unset: ['B', 'X'],
  })
  assert.deepEqual(patched.body, [
    { key: 'A', value: '1' },
    { key: 'B', value: '2' },
    { key: 'C', value: '3' },
  ])
  assert.deepEqual((await call('PUT', '', { vars: [{ key: 'Z', value: '' }] })).body, [
    { key: 'Z', value: '' },
  ])
})

test('a rejected change names keys, never values, and changes nothing', async (t) => {
  const { call } = await start(t, [{ key: 'A', value: '1' }])
  const wrong = {
    'a key twice': {
      vars: [
        { key: 'A', value: 's3cret' },
        { key: 'A', value: 's3cret' },
      ],
    },
    'a NUL': { vars: [{ key: 'A', value: 's3cret\0' }] },
    'half a character': { vars: [{ key: 'A', value: 's3cret\ud800' }] },
    'a key with a dash': { vars: [{ key: 'A-B', value: 's3cret' }] },
    'a number': { vars: [{ key: 'A', value: 53 }] },
    'an unknown key': { vars: [{ key: 'A', value: 's3cret', secret: 's3cret' }] },
    'a long value': { vars: [{ key: 'A', value: 's3cret'.repeat(11_000) }] },
    'too much together': {
      vars: Array.from({ length: 9 }, (_, i) => ({ key: `A${i}`, value: 'x'.repeat(65_000) })),
    },
  }

  for (const [name, body] of Object.entries(wrong)) {
    const response = await call('PUT', '', body)
    assert.deepEqual([name, response.status, response.body.code], [name, 400, 'invalid_request'])
    assert.doesNotMatch(response.text, /s3cret(?!")|xxx/, name)
  }
  assert.deepEqual((await call('GET')).body, [{ key: 'A', value: '1' }])
})

test('a dry run lists changes and broken references, and saves nothing', async (t) => {
  const before = [
    { key: 'A', value: '1' },
    { key: 'B', value: '1' },
    { key: 'C', value: '1' },
  ]
  const { call } = await start(t, before)

  const { body } = await call('PATCH', '?dry_run=true&restart=true', {
    set: [
      { key: 'B', value: '2' },
      { key: 'C', value: '1' },
      { key: 'OWN', value: reference(' service.web.hostport ') },
      { key: 'DB', value: reference('datastore.db.password') },
      { key: 'WHO', value: `a ${reference('service.nobody.host')} b` },
      { key: 'WHAT', value: reference('service.web.color') },
      { key: 'LITERAL', value: `$${reference('service.nobody.host')}` },
    ],
    unset: ['A'],
  })

  assert.deepEqual(body, {
    added: ['DB', 'LITERAL', 'OWN', 'WHAT', 'WHO'],
    changed: ['B'],
    removed: ['A'],
    unresolved: ['DB', 'WHAT', 'WHO'],
  })
  assert.deepEqual((await call('GET')).body, before)
})

test('twenty parallel changes of different keys all survive', async (t) => {
  const { call } = await start(t)
  const vars = Array.from({ length: 20 }, (_, index) => ({
    key: `KEY_${String(index).padStart(2, '0')}`,
    value: 'x',
  }))

  await Promise.all(vars.map((variable) => call('PATCH', '', { set: [variable] })))

  assert.deepEqual((await call('GET')).body, vars)
})

test('restart=true restarts a live deploy or queues behind a first one', async (t) => {
  const { call, created, storage, setDeploy } = await start(t, [], { repo_url: 'https://git.test/a/b' })
  const { id } = created.body as { id: string }
  const [first] = storage.actors.list('deploy', id, 9)
  const triggers = () => storage.actors.list('deploy', id, 9).map(({ trigger }) => trigger)
  const save = () => call('PATCH', '?restart=true', { set: [{ key: 'A', value: '1' }] })

  await save()
  assert.deepEqual(triggers(), ['create'], 'the queued deploy takes the variables')
  await setDeploy(first!.id, { status: 'running' })
  await save()
  assert.deepEqual(triggers(), ['restart', 'create'], 'behind the first deploy')

  const other = await start(t)
  assert.equal((await other.call('PATCH', '?restart=true', { set: [{ key: 'A', value: '1' }] })).status, 200)
  assert.equal(other.storage.actors.latest('deploy', other.created.body.id as string), null)
})

test('if the restart fails the response reports that the variables are saved', async (t) => {
  const { call, created, context, storage, setDeploy } = await start(t, [], {
    repo_url: 'https://git.test/a/b',
  })
  const latest = storage.actors.latest('deploy', created.body.id as string)
  await setDeploy(latest!.id, { status: 'live' })
  context.actors.spawn = () => Promise.reject(new Failure('insufficient_storage', 'the disk is full'))

  const { status, body } = await call('PATCH', '?restart=true', { set: [{ key: 'A', value: '1' }] })

  assert.deepEqual([status, body.code], [507, 'insufficient_storage'])
  assert.match(String(body.detail), /^the variables are saved, but /)
  assert.deepEqual((await call('GET')).body, [{ key: 'A', value: '1' }])
})
