// JSON Schemas for the document, from the validation schemas of the server. Patterns that `type` and `format`
// already imply are left out.
import { z } from 'zod'

export type Json = Record<string, unknown>

/** The schemas that operations refer to; filled while operations are built. */
export interface Components {
  schemas: Record<string, Json>
  responses: Record<string, Json>
}

/** The JSON Schema of a zod schema. Schemas with an id become components. */
export function schemaOf(schema: z.ZodType, io: 'input' | 'output', { schemas }: Components): Json {
  // Wrapped, because zod does not convert a top-level schema to a reference.
  const wrapped = toJson(z.object({ it: schema }), io)
  const moved = JSON.parse(JSON.stringify(wrapped).replaceAll('"#/$defs/', '"#/components/schemas/'))
  for (const [id, { id: _, ...definition }] of Object.entries<Json>(moved.$defs ?? {})) {
    schemas[id] = definition
  }
  return moved.properties.it
}

export function fieldsOf(schema: z.ZodType): { properties: Record<string, Json>; required: string[] } {
  const { properties = {}, required = [] } = toJson(schema, 'input')
  return { properties: properties as Record<string, Json>, required: required as string[] }
}

function toJson(schema: z.ZodType, io: 'input' | 'output'): Json {
  return z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => dropRedundantBounds(jsonSchema as Json),
  }) as Json
}

/**
 * Removes the bounds of safe integers and the pattern of dates, which `type` and `format` imply, and patterns
 * with Unicode classes, which many validators do not support.
 */
function dropRedundantBounds(schema: Json): void {
  if (schema.format === 'date-time' || /\\p\{/i.test(String(schema.pattern))) delete schema.pattern
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
}
