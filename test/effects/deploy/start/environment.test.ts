// References in env values, the variables that Berth adds, and the port.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  choosePort,
  resolveReferences,
  unusedPort,
  withDefaults,
  withPort,
} from '../../../../src/effects/deploy/start/environment.ts'

/** A server with one service `api` on port 4000 and one datastore `db`. */
const known = new Map([
  ['service.api.port', '4000'],
  ['service.api.host', 'api'],
  ['datastore.db.password', 'a${{b}}$&'],
])
const lookup = (kind: string, name: string, property: string) =>
  known.get(`${kind}.${name}.${property}`) ?? null

const resolve = (value: string) => resolveReferences([{ key: 'URL', value }], lookup)[0]!.value

test('references are replaced anywhere in a value, with or without spaces inside the braces', () => {
  const values = {
    'http://${{service.api.host}}:${{service.api.port}}/': 'http://api:4000/',
    '${{ service.api.port }}': '4000',
    '${{\tservice.api.port\n}}': '4000',
    '${{service.api.port}}${{service.api.port}}': '40004000',
    'a}} ${{service.api.port}} {{b': 'a}} 4000 {{b',
  }
  assert.deepEqual(Object.keys(values).map(resolve), Object.values(values))
})

test('a doubled dollar sign is literal, and is not resolved', () => {
  const values = {
    '$${{service.api.port}}': '${{service.api.port}}',
    '$${{ whatever }} ${{service.api.port}}': '${{ whatever }} 4000',
    '$${{ never closed': '${{ never closed',
    '$${{a} $${{b': '${{a} ${{b',
  }
  assert.deepEqual(Object.keys(values).map(resolve), Object.values(values))
})

test('a resolved value is used literally: neither resolved again nor treated as a pattern', () => {
  assert.equal(resolve('<${{datastore.db.password}}>'), '<a${{b}}$&>')
})

test('text without a reference is unchanged', () => {
  const text = fc.string({ unit: 'binary' }).filter((one) => !one.includes('${{'))
  fc.assert(fc.property(text, (one) => resolve(one) === one))
  for (const one of ['$', '$$', '${HOME}', '$HOME', '{{x}}', '$ {{x}}', '${ {x}}'])
    assert.equal(resolve(one), one)
})

for (const reference of [
  '${{service.nobody.port}}',
  '${{service.api.nothing}}',
  '${{service.api}}',
  '${{datastore.api.port}}',
  '${{account.api.port}}',
  '${{}}',
  '${{SERVICE.api.port}}',
]) {
  test(`${reference} fails with the variable and the reference, and without the value around it`, () => {
    const vars = [
      { key: 'FINE', value: '1' },
      { key: 'DATABASE_URL', value: `canary-before ${reference} canary-after` },
    ]
    assert.throws(() => resolveReferences(vars, lookup), {
      code: 'unresolved_reference',
      message: `the variable DATABASE_URL refers to ${reference}, which does not exist`,
    })
  })
}

for (const value of ['canary ${{service.api.port', 'canary ${{', '${{service.api.port} }', '${{a}']) {
  test(`an unclosed reference fails with the variable, and without its value: ${value}`, () => {
    const vars = [{ key: 'DATABASE_URL', value }]
    assert.throws(() => resolveReferences(vars, lookup), {
      code: 'unresolved_reference',
      message: 'the variable DATABASE_URL has an unclosed ${{',
    })
  })
}

test("Berth’s own variables are added after the user's, and never override one", () => {
  const own = [
    { key: 'BERTH_URL', value: '' },
    { key: 'A', value: '1' },
  ]
  const all = withDefaults(own, { PORT: '3000', BERTH_URL: 'http://shop' })
  assert.deepEqual(all, [...own, { key: 'PORT', value: '3000' }])
})

const env = (value: string) => [{ key: 'PORT', value }]
const web = (port: number | null = null) => ({ type: 'web_service', port }) as const
const worker = (port: number | null = null) => ({ type: 'background_worker', port }) as const

test("the port is the setting, else PORT of the env, else the image's only port, else 3000", () => {
  const cases: [Parameters<typeof choosePort>, number][] = [
    [[web(8080), env('9090'), [7070]], 8080],
    [[web(), env('9090'), [7070]], 9090],
    [[web(0), env('9090'), [7070]], 9090],
    [[web(), env(' 9090\n'), [7070]], 9090],
    [[web(), env(''), [7070]], 7070],
    [[web(), [], [7070]], 7070],
    [[web(), [], [7070, 7071]], 3000],
    [[web(), [], []], 3000],
    [[web(), env('65535'), []], 65_535],
    [[web(8080), env('http'), []], 8080],
    [[{ type: 'static_site', port: null }, [], [80, 8080]], 8080],
  ]
  assert.deepEqual(
    cases.map(([given]) => choosePort(...given).port),
    cases.map(([, expected]) => expected),
  )
})

for (const value of ['0', '65536', '99999', '-1', '80.5', '1e3', '0x50', 'canary']) {
  test(`PORT=${value} fails a listening service, without its value, and is ignored for others`, () => {
    assert.throws(() => choosePort(web(), env(value), [7070]), {
      code: 'invalid_request',
      message: 'the variable PORT is not a port from 1 to 65535',
    })
    assert.equal(choosePort(worker(), env(value), [7070]).port, 7070)
  })
}

test('PORT is the chosen port for listening services; all other variables are unchanged', () => {
  const vars = [{ key: 'A', value: ' a\n' }, ...env(' 4000'), { key: 'PORT2', value: '4000' }]

  assert.deepEqual(withPort(web(), vars, 8080), [vars[0], ...env('8080'), vars[2]])
  assert.deepEqual(withPort(worker(), vars, 8080), vars)
})

test('an unused PORT is reported, with its value only if that is a plain number', () => {
  const prefix = 'PORT is set to 8080, the port of the service; '
  assert.equal(unusedPort(web(8080), env('4000')), `${prefix}PORT=4000 in its env is ignored`)
  for (const value of ['canary', '123456', '4000 canary'])
    assert.equal(unusedPort(web(8080), env(value)), `${prefix}the PORT in its env is ignored`)
  for (const value of ['8080', ' 8080\n', '', ' ']) assert.equal(unusedPort(web(8080), env(value)), null)
  assert.deepEqual([unusedPort(web(), env('4000')), unusedPort(worker(8080), env('4000'))], [null, null])
})
