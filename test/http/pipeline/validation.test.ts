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
  const found = [
    problemOf(z.int(), 'one'),
    problemOf(z.int(), 1.5),
    problemOf(z.string(), 1),
    problemOf(z.boolean(), 'yes'),
    problemOf(z.array(z.string()), {}),
    problemOf(z.object({}), []),
    problemOf(z.record(z.string(), z.string()), 1),
    problemOf(z.array(z.string()).min(1), []),
    problemOf(z.array(z.string()).min(2), ['a']),
    problemOf(z.array(z.string()).max(1), ['a', 'b']),
    problemOf(z.string().min(1), ''),
    problemOf(z.string().min(2), 'a'),
    problemOf(z.string().max(1), 'ab'),
    problemOf(z.int().min(1), 0),
    problemOf(z.int().positive(), 0),
    problemOf(z.int().max(3), 4),
  ]
  assert.deepEqual(found, [
    'x: must be a number',
    'x: must be a whole number',
    'x: must be a string',
    'x: must be true or false',
    'x: must be an array',
    'x: must be an object',
    'x: must be an object',
    'x: must have at least 1 entry',
    'x: must have at least 2 entries',
    'x: must have at most 1 entry',
    'x: must not be empty',
    'x: must have at least 2 characters',
    'x: must have at most 1 character',
    'x: must be at least 1',
    'x: must be more than 0',
    'x: must be at most 3',
  ])
})
