// The OpenAPI 3.1 document, generated from the route table, so it always matches what is served. A schema
// with an `id` becomes a component; a schema without one is written inline.
import { guide, securitySchemes, tagMeanings } from '../openapi/guide.ts'
import { operationOf } from '../openapi/operation.ts'
import { headers } from '../openapi/responses.ts'
import type { Components, Json } from '../openapi/schema.ts'
import type { Route } from './route.ts'

type Paths = Record<string, Record<string, Json>>

export interface OpenApiDocument extends Json {
  paths: Paths
  /** WebSocket routes, in the format of `paths`. */
  'x-websockets': Paths
  components: Components & { securitySchemes: Json; headers: Json }
}

/** The document for a route table, without HTML pages. */
export function openApiDocument(routes: readonly Route[], version: string): OpenApiDocument {
  const components: Components = { schemas: {}, responses: {} }
  const api = routes.filter(({ isPage }) => !isPage)
  const tags = [...new Set(api.map(({ tag }) => tag))]
  return {
    openapi: '3.1.0',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    info: {
      title: 'Berth',
      version,
      summary: 'A self-hosted deployment server.',
      description: guide,
      contact: { name: 'The administrator of this server' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The server that this document comes from.' }],
    tags: tags.map((name) => ({ name, description: tagMeanings[name] })),
    paths: pathsOf(
      api.filter(({ response }) => response !== 'socket'),
      components,
    ),
    'x-websockets': pathsOf(
      api.filter(({ response }) => response === 'socket'),
      components,
    ),
    components: { ...components, securitySchemes, headers },
  }
}

function pathsOf(routes: readonly Route[], components: Components): Paths {
  const paths: Paths = {}
  for (const one of routes) {
    paths[one.path] ??= {}
    paths[one.path]![one.method.toLowerCase()] = operationOf(one, components)
  }
  return paths
}
