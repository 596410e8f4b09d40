// Checks responses against the OpenAPI document.
import assert from 'node:assert/strict'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { type OpenApiDocument, openApiDocument } from '../../../src/http/openapi/document.ts'
import { routes } from '../../../src/http/pipeline/routes.ts'

/** The document as it is served. */
export const served: OpenApiDocument = openApiDocument(routes, '0.0.0-test')

/** Includes the WebSocket routes. */
export const document: OpenApiDocument = { ...served, paths: { ...served.paths, ...served['x-websockets'] } }

const root = 'https://berth.test/openapi.json'

/** Knows the whole document; `strict` refuses keywords that JSON Schema does not have. */
export function createAjv(): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true })
  ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  // Keywords of OpenAPI around the schemas, which a validator ignores.
  const words = ['openapi', 'info', 'servers', 'tags', 'paths', 'x-websockets', 'components']
  for (const word of [...words, 'jsonSchemaDialect']) ajv.addKeyword(word)
  ajv.addSchema({ ...document, $id: root })
  return ajv
}

const ajv = createAjv()

/** Fails unless the document has the path, method and status, and the body matches its schema. */
export function checkAnswer(method: string, path: string, status: number, body: unknown): void {
  const template = templateOf(path.split('?')[0]!)
  const operation = document.paths[template]?.[method.toLowerCase()]
  assert.ok(operation, `${method} ${path} is not in the document`)
  const responses = operation.responses as Record<string, Response>
  const response = responses[status]
  assert.ok(response, `${method} ${template} may not answer ${status}`)
  const type = Object.keys(resolvedResponse(response).content ?? {}).find((name) => name.includes('json'))
  if (type === undefined) return
  const place = response.$ref
    ? response.$ref.split('/').slice(1)
    : ['paths', template, method.toLowerCase(), 'responses', String(status)]
  const pointer = [...place, 'content', type, 'schema']
  const valid = ajv.getSchema(`${root}#/${pointer.map(escapePointer).join('/')}`)
  assert.ok(valid, `no schema for ${method} ${template} ${status}`)
  assert.ok(valid(body), `${method} ${template} ${status}: ${ajv.errorsText(valid.errors)}`)
}

export interface Response {
  $ref?: string
  description?: string
  headers?: Record<string, unknown>
  content?: Record<string, unknown>
}

/** Resolves a reference to a shared response. */
export function resolvedResponse(response: Response): Response {
  const name = response.$ref?.split('/').at(-1)
  return name === undefined ? response : (document.components.responses[name] as Response)
}

/** Whether a request with this method and path requires a signed-in browser. */
export function needsSession(method: string, path: string): boolean {
  const operation = document.paths[templateOf(path.split('?')[0]!)]?.[method.toLowerCase()]
  return JSON.stringify(operation?.security) === '[{"session":[]}]'
}

/** Literal segments win over parameters. */
const templates = Object.keys(document.paths)
  .sort((a, b) => a.split('{').length - b.split('{').length)
  .map((template) => ({ template, pattern: new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`) }))

/** The document's path template for a request path. */
function templateOf(path: string): string {
  const found = templates.find(({ pattern }) => pattern.test(path))
  assert.ok(found, `${path} is not in the document`)
  return found.template
}

function escapePointer(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))
}
