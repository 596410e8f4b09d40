// The facts of a source on disk.
import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readFacts } from '../../src/recipes/index.ts'
import { writeTree } from '../support/archive/write-tree.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

test('facts are the names of all files, and the text of manifests and programs', async (t) => {
  const folder = temporaryDirectory(t)
  writeTree(folder, {
    'apps/web/package.json': '{"name":"web"}',
    'apps/web/requirements/base.txt': 'django',
    'apps/web/src/secret.txt': 'x',
    'apps/web/src/server.ts': 'y',
    'node_modules/a/package.json': '{}',
  })
  const { top, app, rootDir } = await readFacts(folder, { rootDir: './apps/web/' })
  assert.deepEqual([...top.files].sort(), [
    'apps/web/package.json',
    'apps/web/requirements/base.txt',
    'apps/web/src/secret.txt',
    'apps/web/src/server.ts',
  ])
  assert.equal(rootDir, 'apps/web')
  assert.equal(app.text('package.json'), '{"name":"web"}')
  assert.equal(app.text('requirements/base.txt'), 'django')
  assert.equal(app.text('src/server.ts'), 'y')
  assert.equal(app.text('src/secret.txt'), '')
})

test('a link is a name without a text', async (t) => {
  const folder = temporaryDirectory(t)
  symlinkSync('/etc/hostname', join(folder, 'Procfile'))
  const { app } = await readFacts(folder)
  assert.ok(app.has('Procfile'))
  assert.equal(app.text('Procfile'), '')
})

test('long blanks are cut, so that no rule looks across them for long', async (t) => {
  const folder = temporaryDirectory(t)
  writeTree(folder, { '.nvmrc': ' '.repeat(200_000), Gemfile: `${'\n'.repeat(200_000)}gem "rack"` })
  const facts = await readFacts(folder)
  assert.equal(facts.app.text('Gemfile'), '\ngem "rack"')
  assert.equal(facts.app.text('.nvmrc'), '\n')
})
