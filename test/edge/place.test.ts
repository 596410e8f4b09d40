// The files of the edge: names of valid length, and paths that HAProxy accepts.
import assert from 'node:assert/strict'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileNameOf, loadOrCreateSecret, openEdgeFiles } from '../../src/edge/files.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

test('a host is the name of its file; a name that is too long is replaced by its hash', () => {
  const long = `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}`
  assert.equal(fileNameOf('shop.example'), 'shop.example')
  assert.ok(long.length > 200 && fileNameOf(`${long}.one`).length <= 200)
  assert.notEqual(fileNameOf(`${long}.one`), fileNameOf(`${long}.two`))
})

const unusable = {
  'with a blank': 'a folder',
  'that ends a word of the configuration': 'a"b',
  'that is a comment there': 'a#b',
  'too long for a socket': 'x'.repeat(120),
}

for (const [what, name] of Object.entries(unusable)) {
  test(`a data directory ${what} is refused with the remedy`, (t) => {
    const directory = join(temporaryDirectory(t), name)
    assert.throws(() => openEdgeFiles(directory), { code: 'edge_unusable', hint: /choose/ })
  })
}

test('the secret is created once, private to its owner, and again if it was truncated', (t) => {
  const files = openEdgeFiles(temporaryDirectory(t))
  const path = join(files.directory, 'secret')
  const secret = loadOrCreateSecret(files)
  assert.match(secret, /^[0-9a-f]{48}$/)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.equal(loadOrCreateSecret(files), secret)
  writeFileSync(path, secret.slice(0, 20))
  const next = loadOrCreateSecret(files)
  assert.match(next, /^[0-9a-f]{48}$/)
  assert.notEqual(next, secret)
})
