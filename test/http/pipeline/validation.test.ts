// The messages about invalid values, which people read.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { Failure } from '../../../src/errors.ts'
import { validate } from '../../../src/http/pipeline/validation.ts'

function problemOf(schema: z.ZodType, value: unknown): string {
  try {
    validate(z.object({ x: schema }), { x: value })
  } catch (error) {
    if (error instanceof Failure) return error.message
    throw error
  }
  return 'valid'
}

test('each violation is a sentence of plain words', () => {
  const violations: [z.ZodType, unknown, string][] = [
    [z.int(), 'one', 'must be a number'],
    [z.int(), 1.5, 'must be a whole number'],
    [z.string(), 1, 'must be a string'],
    [z.boolean(), 'yes', 'must be true or false'],
    [z.array(z.string()), {}, 'must be an array'],
    [z.object({}), [], 'must be an object'],
    [z.record(z.string(), z.string()), 1, 'must be an object'],
    [z.array(z.string()).min(1), [], 'must have at least 1 entry'],
    [z.array(z.string()).min(2), ['a'], 'must have at least 2 entries'],
    [z.array(z.string()).max(1), ['a', 'b'], 'must have at most 1 entry'],
    [z.string().min(1), '', 'must not be empty'],
    [z.string().min(2), 'a', 'must have at least 2 characters'],
    [z.string().max(1), 'ab', 'must have at most 1 character'],
    [z.int().min(1), 0, 'must be at least 1'],
    [z.int().positive(), 0, 'must be more than 0'],
    [z.int().max(3), 4, 'must be at most 3'],
  ]
  for (const [schema, value, text] of violations) assert.equal(problemOf(schema, value), `x: ${text}`)
})
