// The operations of the OpenAPI document, as somebody sees them who has nothing but the document.
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
  /** With its parameters in braces. */
  path: string
  parameters: readonly Parameter[]
  /** null when it takes none. */
  body: { type: string; schema: Schema } | null
  isPublic: boolean
  /** No token will do. */
  isForSession: boolean
  /** Its answer is an event stream. */
  streams: boolean
}

interface Described {
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema?: Schema }> }
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
    isPublic: described.security.length === 0,
    isForSession: needsSession(method, path),
    streams: contents.includes('text/event-stream'),
  }
}

/** The schema itself where it only refers to a named one. */
export function resolved(schema: Schema): Schema {
  const name = /^#\/components\/schemas\/(.+)$/.exec(String(schema.$ref ?? ''))?.[1]
  return name === undefined ? schema : document.components.schemas[name]!
}

/** What a schema allows, one by one: `anyOf`, and each of several types. */
export function branchesOf(schema: Schema): Schema[] {
  const own = resolved(schema)
  if (Array.isArray(own.anyOf)) return own.anyOf.flatMap((one: Schema) => branchesOf(one))
  if (Array.isArray(own.oneOf)) return own.oneOf.flatMap((one: Schema) => branchesOf(one))
  if (Array.isArray(own.type)) return own.type.map((type) => ({ ...own, type }))
  return [own]
}

/** What the path names just before the parameter: `services` in `/services/{id}`. */
export function nounOf(path: string, parameter: string): string {
  const words = path.split('/')
  return words[words.indexOf(`{${parameter}}`) - 1] ?? ''
}
