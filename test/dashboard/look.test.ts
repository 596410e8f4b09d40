// Words, marks and commands of the dashboard that need no browser.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSsh, placeOf } from '../../src/dashboard/auto-deploy/repository.ts'
import { toCurl } from '../../src/dashboard/controls/curl.ts'
import { knownTone, toneOf, wordOf } from '../../src/dashboard/look/tone.ts'
import { iconOf, titleOf } from '../../src/dashboard/shell/tab.ts'
import { served } from '../support/http/openapi.ts'

interface Schema {
  enum?: unknown[]
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
}

/** The values of every field of the API that is called `status`, `state` or `health`. */
function* statusesIn(schema: Schema, field = ''): Generator<string> {
  if (/^(status|state|health)$/.test(field)) yield* (schema.enum ?? []).map(String)
  for (const [name, value] of Object.entries(schema.properties ?? {})) yield* statusesIn(value, name)
  for (const part of [schema.items, schema.anyOf, schema.oneOf].flat())
    if (part) yield* statusesIn(part, field)
}

test('every status of the API has a mark', () => {
  const schemas = Object.values(served.components.schemas) as Schema[]
  const statuses = new Set(schemas.flatMap((schema) => [...statusesIn(schema)]))
  assert.ok(statuses.has('not_deployed') && statuses.has('undoing'))
  assert.deepEqual(
    [...statuses].filter((status) => status !== 'null' && !knownTone(status)),
    [],
  )
})

test('a status that this build does not know has the neutral mark and its own word', () => {
  assert.equal(toneOf('out_to_lunch'), 'waiting')
  assert.equal(wordOf('out_to_lunch'), 'Out to lunch')
})

test('the tab shows the mark in its title, and one of four icons', () => {
  assert.equal(titleOf('Building · shop', 'working'), '◐ Building · shop')
  assert.equal(titleOf('Services'), 'Services · Berth')
  const tones = ['waiting', 'working', 'healthy', 'unhealthy', 'failed', 'stopped', 'parked'] as const
  assert.equal(new Set(tones.map(iconOf)).size, 4)
})

test('the host and the path of a repository are found in each form of its address', () => {
  for (const address of [
    'git@Git.example.com:ada/shop.git',
    'git@git.example.com:/ada/shop/',
    'ssh://git@git.example.com:2222/ada/shop.git',
    'https://git.example.com:8443/ada/shop',
    'https://git.example.com/ada/shop.git/',
  ])
    assert.deepEqual(placeOf(address), { host: 'git.example.com', path: 'ada/shop' }, address)
  assert.equal(placeOf('/srv/shop.git'), null)
  assert.deepEqual(['git@h:a/b', 'ssh://h/a', 'http://h/a', '/a'].map(isSsh), [true, true, false, false])
})

test('a request is shown as a command that no text can break out of', () => {
  const request = { method: 'POST', path: '/services/shop/deploys', body: { commit: "it's" } }
  assert.equal(
    toCurl('https://berth.test', request),
    String.raw`curl -X POST \
  -H "Authorization: Bearer $BERTH_TOKEN" \
  -H 'Content-Type: application/json' \
  -d '{"commit":"it'\''s"}' \
  'https://berth.test/api/v1/services/shop/deploys'`,
  )
})
