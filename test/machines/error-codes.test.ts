// Every code that an effect can fail with is listed: the API shows an unlisted one as an internal error.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { errorCodes } from '../../machines/error-codes.ts'

const folders = ['archive', 'docker', 'dns', 'edge/acme', 'effects', 'git']
/** Codes that no record shows: they prevent the start of berthd, or their caller handles or answers them. */
const unshown = [
  'edge_image_missing',
  'edge_unusable',
  'foreign_objects',
  'invalid_signature',
  'path_not_found',
  'unavailable',
]

test('every failure code in the effects is listed', () => {
  const files = folders.flatMap((folder) => {
    const path = join(import.meta.dirname, '../../src', folder)
    const names = readdirSync(path, { recursive: true, encoding: 'utf8' })
    return names.filter((name) => name.endsWith('.ts')).map((name) => join(path, name))
  })
  const texts = files.map((file) => readFileSync(file, 'utf8')).join('\n')
  const thrown = /(?:new (?:Failure|AcmeFailure)|\btrouble)\(\s*'([a-z_]+)'/g
  const codes = new Set([...texts.matchAll(thrown)].map(([, code]) => code!))
  assert.ok(codes.size > 30, `only ${codes.size} were found`)
  const known: string[] = [...errorCodes, ...unshown]
  assert.deepEqual(
    [...codes].filter((code) => !known.includes(code)),
    [],
  )
})
