// What `berth up` makes of a folder: its name, what it is, and which of its links the server would refuse.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { guessService, toServiceName } from '../../../src/cli/source/new-service.ts'
import { listSource } from '../../../src/cli/source/source-entries.ts'
import { writeTree } from '../../support/archive/write-tree.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

test('a folder’s name is converted to a valid service name', () => {
  const names = ['shop', 'My Shop', 'Café_2', '2. site', '--x--', `a${'b'.repeat(39)}-c`, 'x.y.z']

  assert.deepEqual(names.map(toServiceName), [
    'shop',
    'my-shop',
    'cafe-2',
    'site',
    'x',
    `a${'b'.repeat(39)}`,
    'x-y-z',
  ])
  for (const name of ['2024', '漢字', '']) assert.throws(() => toServiceName(name), { exitCode: 2 })
})

test('a Dockerfile makes a web service; pages without one make a static site', async (t) => {
  const guesses = [
    await guess(t, { Dockerfile: '', 'index.html': '' }),
    await guess(t, { 'index.html': '', 'public/index.html': '' }),
    await guess(t, { 'dist/index.html': '' }),
  ]

  assert.deepEqual(guesses, [
    ['web_service', null],
    ['static_site', null],
    ['static_site', null],
  ])
})

test('an explicit type wins', async (t) => {
  assert.deepEqual(await guess(t, { Dockerfile: '' }, 'background_worker'), ['background_worker', null])
  assert.deepEqual(await guess(t, { Dockerfile: '', 'public/index.html': '' }, 'static_site'), [
    'static_site',
    'public',
  ])
  await assert.rejects(guess(t, { 'notes.txt': '' }), { message: /has no Dockerfile, and no recipe fits it/ })
})

test('a Dockerfile counts where the server looks for it', async (t) => {
  assert.deepEqual(await guess(t, { 'web/containerfile': '' }, undefined, './web/'), ['web_service', null])
  const site = { containerfile: '', 'public/index.html': '' }
  assert.deepEqual(await guess(t, site, 'static_site'), ['static_site', null], 'its pages are in the source')
})

async function guess(t: TestContext, files: Record<string, string>, type?: string, rootDir?: string) {
  const folder = temporaryDirectory(t)
  writeTree(folder, files)
  const { type: guessed, publishDir } = await guessService(await list(folder), { type, rootDir })
  return [guessed, publishDir]
}

function list(folder: string) {
  return listSource(folder, { signal: new AbortController().signal, onProgress: () => {} })
}
