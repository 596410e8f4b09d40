// References in env values: the API accepts exactly what an instance can resolve.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  datastoreProperties,
  type Reference,
  referencesIn,
  serviceProperties,
} from '../../src/domain/env-references.ts'
import { resolveReferences } from '../../src/effects/deploy/start/environment.ts'
import { isResolvable } from '../../src/http/rules/env.ts'

/** The properties on a server with one service, `shop`, and one datastore, `db`. */
const has = (noun: string, name: string) => `${noun}.${name}` in propertiesOf
const propertiesOf: Record<string, readonly string[]> = {
  'service.shop': serviceProperties,
  'datastore.db': datastoreProperties,
}

/** Whether an instance with this value would start on that server. */
function canStart(value: string): boolean {
  const lookup = (noun: string, name: string, property: string) =>
    propertiesOf[`${noun}.${name}`]?.includes(property) ? 'x' : null
  try {
    resolveReferences([{ key: 'A', value }], lookup)
    return true
  } catch {
    return false
  }
}

const values = {
  ...Object.fromEntries(serviceProperties.map((property) => [`\${{service.shop.${property}}}`, true])),
  ...Object.fromEntries(datastoreProperties.map((property) => [`\${{datastore.db.${property}}}`, true])),
  'no reference': true,
  '${{service.db.port}}': false,
  '${{datastore.db.url}}': false,
  '${{service.shop.password}}': false,
  '${{service.shop.toString}}': false,
  '${{datastore.db.toString}}': false,
  '${{ service.shop.port }} and $${{anything': true,
  '${{service.gone.port}}': false,
  '${{datastore.shop.port}}': false,
  '${{service.shop}}': false,
  '${{SERVICE.shop.port}}': false,
  '${{service.Shop.port}}': false,
  '${{service.shop.port': false,
}

for (const [value, leads] of Object.entries(values)) {
  test(`${value} ${leads ? 'is resolvable, and an instance starts with it' : 'is neither'}`, () => {
    assert.deepEqual([isResolvable(value, has), canStart(value)], [leads, leads])
  })
}

test('references are found in order, and malformed ones are null', () => {
  const shop: Reference = { noun: 'service', name: 'shop', property: 'port' }
  assert.deepEqual(referencesIn('${{service.shop.port}} ${{what}} $${{no}} ${{service'), [shop, null, null])
})
