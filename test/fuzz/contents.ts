// Request bodies: JSON that is valid, nearly valid or broken, an archive, or nothing.
import fc from 'fast-check'
import type { Operation } from '../support/http/operations.ts'
import { spoiled, unusualTexts } from './spoil.ts'
import { taste } from './tastes.ts'
import { type Json, valuesOf } from './values.ts'

/** `json` and `text` may contain placeholders of tokens.ts. */
export type Content = { type: string | null; encoding: string | null } & (
  | { json: Json }
  | { text: string }
  | { archive: 'whole' | 'cut' | 'noise' }
)

export const brokenJson = fc.constantFrom(
  ...[
    '{',
    '[',
    '{"name"',
    '{"name":"a",}',
    "{'name':'a'}",
    'nul',
    'NaN',
    '{"name":1e999}',
    '{"a":1}{"a":2}',
    '{}x',
  ],
  ...[
    '{"name":"a","name":"b"}',
    '\ufeff{}',
    '"\\ud800"',
    '{"\\udfff":1}',
    '{"name":"\\u0000"}',
    '\0',
    '[[[[',
    '-',
    '""',
  ],
  ...[
    '['.repeat(200_000),
    `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`,
    `"${'x'.repeat(1_200_000)}"`,
    ' '.repeat(70_000),
  ],
)

const types = fc.oneof(
  { weight: 15, arbitrary: fc.constant('application/json') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(null, 'text/plain', 'application/json; charset=utf-16', 'a', 'x/y+json'),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'application/gzip',
    ),
  },
)
const encodings = fc.oneof(
  { weight: 40, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.constantFrom('gzip', 'identity', 'br, gzip') },
)
const dress = { type: types, encoding: encodings }

export function contentsOf({ method, body }: Operation): fc.Arbitrary<Content | null> {
  if (body === null) return method === 'GET' ? fc.constant(null) : mostly(fc.constant(null), 6)
  if (body.type === 'application/json') return mostly(jsonOf(valuesOf(body.schema, taste)), 12)
  const archive = fc.constantFrom('whole', 'cut', 'noise')
  return mostly(fc.record({ ...dress, type: fc.constant(body.type), archive }), 12)
}

function jsonOf(values: fc.Arbitrary<Json>): fc.Arbitrary<Content> {
  const json = fc.oneof({ weight: 6, arbitrary: values }, { weight: 4, arbitrary: spoiled(values) })
  return fc.record({ ...dress, json: json.map(withoutInternet) })
}

/** A provider without an address would be GitHub or GitLab itself. */
function withoutInternet(json: Json): Json {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return json
  return 'provider' in json && !json.base_url ? { ...json, base_url: 'http://127.0.0.1:9' } : json
}

function mostly(usual: fc.Arbitrary<Content | null>, weight: number): fc.Arbitrary<Content | null> {
  return fc.oneof(
    { weight, arbitrary: usual },
    { weight: 1, arbitrary: fc.record({ ...dress, text: fc.oneof(brokenJson, unusualTexts) }) },
    {
      weight: 1,
      arbitrary: fc.record({ ...dress, json: fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json> }),
    },
    { weight: 1, arbitrary: fc.constant(null) },
  )
}
