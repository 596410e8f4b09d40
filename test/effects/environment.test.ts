// References in env values, the variables that Berth adds, and the port.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { choosePort, resolveReferences, withDefaults } from '../../src/effects/deploy/environment.ts'

/** A server with one service `api` on port 4000 and one datastore `db`. */
const known = new Map([
  ['service.api.port', '4000'],
  ['service.api.host', 'api'],
  ['datastore.db.password', 'a${{b}}$&'],
])
const lookup = (kind: string, name: string, property: string) =>
  known.get(`${kind}.${name}.${property}`) ?? null

const resolve = (value: string) => resolveReferences([{ key: 'URL', value }], lookup)[0]!.value

test('references are replaced wherever they stand, blanks inside the braces or not', () => {
  const values = {
    'http://${{service.api.host}}:${{service.api.port}}/': 'http://api:4000/',
    '${{ service.api.port }}': '4000',
    '${{\tservice.api.port\n}}': '4000',
    '${{service.api.port}}${{service.api.port}}': '40004000',
    'a}} ${{service.api.port}} {{b': 'a}} 4000 {{b',
  }
  assert.deepEqual(Object.keys(values).map(resolve), Object.values(values))
})

test('a doubled dollar sign is the text itself, and is not looked up', () => {
  const values = {
    '$${{service.api.port}}': '${{service.api.port}}',
    '$${{ whatever }} ${{service.api.port}}': '${{ whatever }} 4000',
    '$${{ never closed': '${{ never closed',
    '$${{a} $${{b': '${{a} ${{b',
  }
  assert.deepEqual(Object.keys(values).map(resolve), Object.values(values))
})

test('what stands for a reference is taken as it is: neither resolved again nor a pattern', () => {
  assert.equal(resolve('<${{datastore.db.password}}>'), '<a${{b}}$&>')
})

test('text without a reference comes out unchanged', () => {
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
  test(`a reference that is not closed fails with the variable, and without its value: ${value}`, () => {
    const vars = [{ key: 'DATABASE_URL', value }]
    assert.throws(() => resolveReferences(vars, lookup), {
      code: 'unresolved_reference',
      message: 'the variable DATABASE_URL has an unclosed ${{',
    })
  })
}

test('Berth’s own variables come after the person’s, and never instead of one', () => {
  const own = [
    { key: 'PORT', value: '' },
    { key: 'A', value: '1' },
  ]
  const all = withDefaults(own, { PORT: '3000', BERTH_URL: 'http://shop' })
  assert.deepEqual(all, [...own, { key: 'BERTH_URL', value: 'http://shop' }])
})

test('the port is the service’s, else that of the env, else the only one of the image, else 3000', () => {
  const port = (value: string) => [{ key: 'PORT', value }]
  const cases: [Parameters<typeof choosePort>, number][] = [
    [[8080, port('9090'), [7070]], 8080],
    [[null, port('9090'), [7070]], 9090],
    [[0, port('9090'), [7070]], 9090],
    [[null, [], [7070]], 7070],
    [[null, [], [7070, 7071]], 3000],
    [[null, [], []], 3000],
    [[null, port('65535'), []], 65_535],
  ]
  assert.deepEqual(
    cases.map(([given]) => choosePort(...given)),
    cases.map(([, expected]) => expected),
  )
})

test('a PORT that is no port is not believed', () => {
  const values = ['', '0', '65536', '-1', '80.5', 'http']
  const chosen = values.map((value) => choosePort(null, [{ key: 'PORT', value }], [7070]))
  assert.deepEqual(chosen, Array(values.length).fill(7070))
})
