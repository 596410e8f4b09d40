// Values that a JSON Schema allows, generated and shrunk by fast-check.
// The schemas are weaker than the server's rules, so the server may still refuse a value.
import fc from 'fast-check'
import { branchesOf, type Schema } from '../support/http/operations.ts'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** The preferred values of a field by its name, or null. */
export type Taste = (field: string) => fc.Arbitrary<Json> | null

const noTaste: Taste = () => null

/** The maximum: a request with all optional fields violates some rule. */
const optionalFields = 6

export function valuesOf(schema: Schema, taste: Taste = noTaste, field = ''): fc.Arbitrary<Json> {
  const tasted = taste(field)
  if (tasted) return tasted
  const branches = branchesOf(schema).map((branch) => valuesOfOne(branch, taste, field))
  return branches.length === 1 ? branches[0]! : fc.oneof(...branches)
}

function valuesOfOne(schema: Schema, taste: Taste, field: string): fc.Arbitrary<Json> {
  if ('const' in schema) return fc.constant(schema.const as Json)
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as Json[]))
  switch (schema.type) {
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return fc.integer(boundsOf(schema))
    case 'number':
      return fc.double({ ...boundsOf(schema), noNaN: true, noDefaultInfinity: true })
    case 'string':
      return textsOf(schema)
    case 'array':
      return listsOf(schema, taste, field)
    case 'object':
      return objectsOf(schema, taste)
    default:
      return fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>
  }
}

function boundsOf({ minimum, maximum }: Schema): { min: number; max: number } {
  return { min: Number(minimum ?? -(2 ** 31)), max: Number(maximum ?? 2 ** 31 - 1) }
}

function textsOf({ pattern, minLength = 0, maxLength = 64 }: Schema): fc.Arbitrary<string> {
  const minimum = Number(minLength)
  const lengths = { minLength: minimum, maxLength: Math.max(minimum, Math.min(Number(maxLength), 64)) }
  if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern), lengths)
  return fc.string({ ...lengths, unit: 'grapheme' })
}

function listsOf({ items = {}, maxItems = 4 }: Schema, taste: Taste, field: string): fc.Arbitrary<Json[]> {
  const most = Math.min(Number(maxItems), 4)
  return fc.array(valuesOf(items as Schema, taste, field), { maxLength: most })
}

function objectsOf({ properties = {}, required = [] }: Schema, taste: Taste): fc.Arbitrary<Json> {
  const schemas = Object.entries(properties as Record<string, Schema>)
  const fields = new Map(schemas.map(([name, schema]) => [name, valuesOf(schema, taste, name)]))
  const isWanted = (name: string) => (required as string[]).includes(name)
  const wanted = [...fields].filter(([name]) => isWanted(name))
  const optional = [...fields].filter(([name]) => !isWanted(name))
  const some = fc.subarray(optional, { maxLength: Math.min(optional.length, optionalFields) })
  return some.chain((chosen) => fc.record(Object.fromEntries([...wanted, ...chosen])))
}
