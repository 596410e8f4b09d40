// Nearly valid values: valid except for one place.
import fc from 'fast-check'
import { hostileTexts } from '../support/daemon/hostile.ts'
import type { Json } from './values.ts'

/** The texts need no effect here, so the canary is never checked. */
export const unusualTexts = fc.constantFrom(...hostileTexts({ directory: '/nowhere/at/all', port: 9 }))

/** uWS waits for the rest of a header with a control character, and disconnects after 12 s. */
export const hasControl = (text: string) => /(?!\t)\p{Cc}/u.test(text)
export const headerTexts = unusualTexts.filter((text) => !hasControl(text) && text.length < 1000)

const extremes = [0, -0, -1, 1.5, 51, 65_536, 1e21, 1e308, -1e308, 5e-324, 2 ** 31, 2 ** 53, -(2 ** 53)]

const strangers: fc.Arbitrary<Json> = fc.oneof(
  unusualTexts,
  fc.constantFrom(...extremes),
  fc.constantFrom(null, true, false, '', [], {}, [[]], [null], { __proto__: null, constructor: 1 }),
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>,
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.nat({ max: 5000 }).map((length) => 'x'.repeat(length)),
  fc.nat({ max: 2000 }).map((depth) => nested(depth)),
)

const harms = ['replace', 'replace', 'replace', 'remove', 'add', 'repeat'] as const

/** A valid value with one place replaced, removed, added or repeated. */
export function spoiled(values: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  return fc
    .tuple(values, fc.nat(), fc.constantFrom(...harms), strangers, unusualTexts)
    .map(([value, at, harm, stranger, key]) => {
      const ways = waysInto(value)
      return spoil(value, ways[at % ways.length]!, (here) => applied(here, harm, stranger, key))
    })
}

/** Deeper JSON exceeds the recursion limit of many parsers. */
function nested(depth: number): Json {
  let value: Json = []
  for (let level = 0; level < depth; level++) value = [value]
  return value
}

function waysInto(value: Json): string[][] {
  if (value === null || typeof value !== 'object') return [[]]
  return [[], ...Object.keys(value).flatMap((key) => waysInto(at(value, key)!).map((way) => [key, ...way]))]
}

function at(value: Json, key: string): Json | undefined {
  return (value as Record<string, Json>)[key]
}

/** undefined removes the place. */
function spoil(value: Json, [key, ...way]: string[], change: (here: Json) => Json | undefined): Json {
  if (key === undefined) return change(value) ?? null
  const changed = way.length === 0 ? change(at(value, key)!) : spoil(at(value, key)!, way, change)
  const entries = Object.entries(value as object).map(([name, old]) => [name, name === key ? changed : old])
  const left = entries.filter(([, one]) => one !== undefined)
  return Array.isArray(value) ? left.map(([, one]) => one) : Object.fromEntries(left)
}

function applied(here: Json, harm: (typeof harms)[number], foreign: Json, key: string): Json | undefined {
  if (harm === 'remove') return undefined
  const isObject = here !== null && typeof here === 'object'
  if (harm === 'add' && isObject)
    return Array.isArray(here) ? [...here, foreign] : { ...here, [key]: foreign }
  if (harm === 'repeat') return Array.isArray(here) ? [...here, ...here] : [here, here]
  return foreign
}
