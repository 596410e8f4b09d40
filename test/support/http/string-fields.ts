// Every text field of the API, and a request that is valid except for that field.
// Derived from the OpenAPI document, so new routes are covered automatically.
import { branchesOf, nounOf, type Operation, type Schema } from './operations.ts'
import type { WireRequest } from './wire.ts'

export interface StringField {
  operation: Operation
  place: 'path' | 'query' | 'header' | 'body'
  /** The name of a parameter, or the path into the body: keys, and 0 for a list entry. */
  way: string[]
}

/** The rest of a request, apart from the text. */
interface Rest {
  /** Ids that exist, by the noun of their path: `services`, `deploys`. */
  existing: Record<string, string>
  /** Fixed body fields, where the operation requires them. */
  fields: Record<string, unknown>
  headers: readonly (readonly [string, string])[]
}

export function stringFieldsOf(operation: Operation): StringField[] {
  const parameters = operation.parameters.map(({ in: place, name }) => ({ operation, place, way: [name] }))
  const ways = isJson(operation) ? waysOf(operation.body!.schema) : []
  return [...parameters, ...ways.map((way) => ({ operation, place: 'body' as const, way }))]
}

export function describeField({ operation: { method, path }, place, way }: StringField): string {
  return `${method} ${path} ${place} ${way.join('.')}`
}

/** The operation's request with this text in this field. */
export function requestWith({ operation, place, way }: StringField, text: string, rest: Rest): WireRequest {
  const [name] = way
  const given = (here: string) => (place === here ? [[name, text] as [string, string]] : [])
  const path = operation.path.replace(/\{(\w+)\}/g, (_, parameter: string) => {
    const known = rest.existing[nounOf(operation.path, parameter)] ?? 'none'
    return percentEncoded(place === 'path' && parameter === name ? text : known)
  })
  const query = given('query').map(([key, value]) => `?${key}=${percentEncoded(value)}`)
  const body = operation.body && bodyWith(operation, place === 'body' ? way : [], text, rest)
  const length: [string, string][] = body ? [['Content-Length', String(body.length)]] : []
  const type: [string, string][] = body ? [['Content-Type', operation.body!.type]] : []
  return {
    method: operation.method,
    target: path + query.join(''),
    headers: [...rest.headers, ...type, ...length, ...given('header')],
    ...(body ? { body } : {}),
  }
}

/** Encodes every byte except letters and digits, so that the path parameter is exactly this text. */
export function percentEncoded(text: string): string {
  const bytes = [...Buffer.from(text)]
  const encode = (byte: number) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`
  return bytes
    .map((byte) => (/[A-Za-z0-9]/.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : encode(byte)))
    .join('')
}

function isJson({ body }: Operation): boolean {
  return body?.type === 'application/json'
}

/** The paths to all texts of a schema. */
function waysOf(schema: Schema): string[][] {
  return branchesOf(schema).flatMap((branch) => {
    if (branch.type === 'string') return [[]]
    if (branch.type === 'array') return waysOf(branch.items as Schema).map((way) => ['0', ...way])
    const properties = Object.entries((branch.properties ?? {}) as Record<string, Schema>)
    return properties.flatMap(([name, property]) => waysOf(property).map((way) => [name, ...way]))
  })
}

function bodyWith({ body }: Operation, way: string[], text: string, { fields }: Rest): Buffer {
  if (body!.type !== 'application/json') return Buffer.from('not what it should be')
  const value = leastOf(body!.schema, way, text) as Record<string, unknown>
  const known = (branchesOf(body!.schema)[0]!.properties ?? {}) as Record<string, Schema>
  const takes = (name: string) =>
    branchesOf(known[name] ?? { type: 'null' }).some(({ type }) => type !== 'null')
  const forced = Object.entries(fields).filter(([name]) => takes(name) && name !== way[0])
  return Buffer.from(JSON.stringify({ ...value, ...Object.fromEntries(forced) }))
}

/** The minimal value of a schema, with the text at the end of the path. */
function leastOf(schema: Schema, way: string[] | null, text: string): unknown {
  const branches = branchesOf(schema)
  const branch = branches.find((one) => way !== null && isNested(one, way)) ?? branches[0]!
  const [step, ...further] = way ?? []
  if (branch.type === 'string') return way ? text : 'x'
  if (branch.type === 'array')
    return step === undefined ? [] : [leastOf(branch.items as Schema, further, text)]
  if (branch.type === 'object') return leastObject(branch, way, text)
  return branch.type === 'boolean' ? false : (branch.minimum ?? 1)
}

function leastObject({ properties = {}, required = [] }: Schema, way: string[] | null, text: string): object {
  const [step, ...further] = way ?? []
  const names = new Set([...(required as string[]), ...(step === undefined ? [] : [step])])
  return Object.fromEntries(
    [...names].map((name) => {
      const property = (properties as Record<string, Schema>)[name]!
      return [name, leastOf(property, name === step ? further : null, text)]
    }),
  )
}

function isNested({ type, properties = {} }: Schema, way: string[]): boolean {
  const [step] = way
  if (step === undefined) return type === 'string'
  return type === 'array' ? step === '0' : step in (properties as object)
}
