// A client whose types come from the OpenAPI document alone, as a user would generate one: the document as
// one JSON Schema in the shape that openapi-fetch reads. (openapi-typescript needs TypeScript's old API.)
import { compile, type JSONSchema } from 'json-schema-to-typescript'
import { document, type Response, resolvedResponse } from './openapi.ts'
import { type Operation, operations } from './operations.ts'

type Schema = JSONSchema

/** The source of a module that exports `paths`. */
export async function typedPaths(): Promise<string> {
  const paths = [...new Set(operations.map(({ path }) => path))]
  const schema = {
    ...objectOf(paths.map((path) => [path, objectOf(operationsAt(path))])),
    definitions: document.components.schemas,
  }
  const source = await compile(withLocalReferences(schema), 'paths', {
    additionalProperties: false,
    bannerComment: '',
    format: false,
    unreachableDefinitions: false,
  })
  // openapi-fetch looks statuses up as numbers.
  return source
    .replace(/^( *)"(\d{3})":/gm, '$1$2:')
    .replace(/export interface Paths /, 'export interface paths ')
}

function operationsAt(path: string): [string, Schema][] {
  return operations
    .filter((operation) => operation.path === path)
    .map((operation) => [operation.method.toLowerCase(), toOperation(operation)])
}

function toOperation({ method, path, parameters, body }: Operation): Schema {
  const placed = ['query', 'path'].flatMap((place) => {
    const here = parameters.filter((one) => one.in === place)
    const required = here.filter((one) => one.required).map(({ name }) => name)
    const values = objectOf(here.map(({ name, schema }) => [name, schema as Schema]))
    return here.length === 0 ? [] : [[place, { ...values, required }] as const]
  })
  const described = document.paths[path]![method.toLowerCase()]!
  const responses = Object.entries(described.responses as Record<string, Response>)
  const requiredPlaces = placed.filter(([, { required }]) => Array.isArray(required) && required.length > 0)
  return objectOf([
    ['parameters', { ...objectOf(placed), required: requiredPlaces.map(([place]) => place) }],
    ...(body ? [['requestBody', contentOf({ [body.type]: { schema: body.schema } })] as const] : []),
    [
      'responses',
      objectOf(responses.map(([status, one]) => [status, contentOf(resolvedResponse(one).content)])),
    ],
  ])
}

function contentOf(content: Response['content'] = {}): Schema {
  const types = Object.entries(content as Record<string, { schema?: Schema }>)
  return objectOf([['content', objectOf(types.map(([type, { schema = {} }]) => [type, schema]))]])
}

function objectOf(properties: readonly (readonly [string, Schema])[]): Schema {
  const required = properties.map(([name]) => name)
  return { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: false }
}

function withLocalReferences(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', '#/definitions/'))
}
