// Env variables: every byte is preserved, and none is readable on disk.
import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { EnvVar } from '../../storage/env.ts'
import { temporaryStorage } from '../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const key = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,20}$/)
const value = fc.string({ unit: 'binary', maxLength: 200 }).map((text) => text.replaceAll('\0', ''))
const vars = fc.uniqueArray(fc.record({ key, value }, { noNullPrototype: true }), {
  selector: (one) => one.key,
  maxLength: 20,
})

const byKey = (a: EnvVar, b: EnvVar) => (a.key < b.key ? -1 : 1)

test('any UTF-8 value without NUL is stored byte for byte, ordered by key', async (t) => {
  const { env } = await temporaryStorage(t)

  await fc.assert(
    fc.asyncProperty(vars, async (vars) => {
      await env.change('svc-1', () => vars)
      deepEqual(env.get('svc-1'), [...vars].sort(byKey))
    }),
    { numRuns: 200 },
  )
})

test('values that look like other syntax are plain text', async (t) => {
  const directory = temporaryDirectory(t)
  const awkward = ['', ' ', '\r\n', '\u2028', '"\\', '${{service.a.port}}', 'x'.repeat(64 * 1024), '\ufeff🐎']
  const vars = awkward.map((text, index) => ({ key: `V${index}`, value: text }))
  const first = await temporaryStorage(t, directory)
  await first.env.change('svc-1', () => vars)
  await first.close()

  deepEqual((await temporaryStorage(t, directory)).env.get('svc-1'), vars)
})

test('a change that throws leaves the variables unchanged', async (t) => {
  const { env } = await temporaryStorage(t)
  const before = [{ key: 'A', value: '1' }]
  await env.change('svc-1', () => before)

  const change = () => {
    throw new Error('refused')
  }
  await rejects(env.change('svc-1', change), { message: 'refused' })

  deepEqual([env.get('svc-1'), env.get('svc-2')], [before, []])
})
