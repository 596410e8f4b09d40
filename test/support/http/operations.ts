// The operations of the OpenAPI document, as a client sees them that knows only the document.
import { document, needsSession, type Response, resolvedResponse } from './openapi.ts'

/** A JSON Schema, read key by key. */
export type Schema = Record<string, unknown>

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  schema: Schema
}

export interface Operation {
  method: string
  /** With parameters in braces. */
  path: string
  parameters: readonly Parameter[]
  /** Null if it takes no body. */
  body: { type: string; schema: Schema } | null
  /** Of its JSON body. */
  example: unknown
  isPublic: boolean
  /** Whether it refuses tokens. */
  isForSession: boolean
  /** Whether the response is an event stream. */
  streams: boolean
}

interface Described {
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema?: Schema; example?: unknown }> }
  security: unknown[]
  responses: Record<string, Response>
}

export const operations: readonly Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, described]) =>
    toOperation(method.toUpperCase(), path, described as unknown as Described),
  ),
)

function toOperation(method: string, path: string, described: Described): Operation {
  const [body] = Object.entries(described.requestBody?.content ?? {})
  const contents = Object.values(described.responses).flatMap((response) =>
    Object.keys(resolvedResponse(response).content ?? {}),
  )
  return {
    method,
    path,
    parameters: described.parameters ?? [],
    body: body ? { type: body[0], schema: body[1].schema ?? {} } : null,
    example: body?.[1].example,
    isPublic: described.security.length === 0,
    isForSession: needsSession(method, path),
    streams: contents.includes('text/event-stream'),
  }
}

/** Resolves a reference to a named schema. */
function resolved(schema: Schema): Schema {
  const name = /^#\/components\/schemas\/(.+)$/.exec(String(schema.$ref ?? ''))?.[1]
  return name === undefined ? schema : document.components.schemas[name]!
}

/** The alternatives of a schema: each of `anyOf` and each of several types. */
export function branchesOf(schema: Schema): Schema[] {
  const schemaFields = resolved(schema)
  if (Array.isArray(schemaFields.anyOf)) return schemaFields.anyOf.flatMap((one: Schema) => branchesOf(one))
  if (Array.isArray(schemaFields.oneOf)) return schemaFields.oneOf.flatMap((one: Schema) => branchesOf(one))
  if (Array.isArray(schemaFields.type)) return schemaFields.type.map((type) => ({ ...schemaFields, type }))
  return [schemaFields]
}

/** The path segment before the parameter: `services` in `/services/{id}`. */
export function nounOf(path: string, parameter: string): string {
  const words = path.split('/')
  return words[words.indexOf(`{${parameter}}`) - 1] ?? ''
}
