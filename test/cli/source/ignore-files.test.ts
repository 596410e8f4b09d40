// What .gitignore and .berthignore leave out of an upload; git itself says what its files mean.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { listSource } from '../../../src/cli/source/source-entries.ts'
import { writeTree } from '../../support/archive/write-tree.ts'
import { createRepository } from '../../support/git/repository.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const nested = {
  '.gitignore':
    'node_modules/\n*.log\n!keep.log\n/dist\n\n# a comment\nsecret?.txt\n**/cache/**\n!**/cache/README\n',
  'a.log': '',
  'keep.log': '',
  'Secret1.txt': '',
  'secret1.txt': '',
  'dist/app.js': '',
  'node_modules/x/index.js': '',
  'node_modules/keep.log': '',
  'web/dist/app.js': '',
  'web/.gitignore': '!special.log\n/build\n*.tmp\n\\#hash\n',
  'web/special.log': '',
  'web/other.log': '',
  'web/#hash': '',
  'web/build/out.js': '',
  'web/sub/build/in.js': '',
  'web/sub/.gitignore': '!*.tmp\n*.js\n!wanted.js\n',
  'web/sub/a.tmp': '',
  'web/sub/a.js': '',
  'web/sub/wanted.js': '',
  'web/a.tmp': '',
  'cache/x/README': '',
  'cache/README': '',
  'a file with blanks ': '',
}

test('nested .gitignore files exclude what git excludes', async (t) => {
  const { directory, git } = createRepository(t)
  writeTree(directory, nested)

  assert.deepEqual(await listPaths(directory), seenByGit(git))
})

test('in a folder of a repository the .gitignore files above it apply too', async (t) => {
  const { directory, git } = createRepository(t)
  writeTree(directory, nested)

  const paths = await listPaths(join(directory, 'web'))

  const seen = seenByGit(git).filter((path) => path.startsWith('web/'))
  assert.deepEqual(
    paths,
    seen.map((path) => path.slice('web/'.length)),
  )
})

test('an ignored folder is uploaded when it is passed explicitly', async (t) => {
  const { directory } = createRepository(t)
  writeTree(directory, { '.gitignore': 'dist\n*.map\n', 'dist/index.html': '', 'dist/app.js.map': '' })

  assert.deepEqual(await listPaths(join(directory, 'dist')), ['index.html'])
})

test('a folder re-included by the nearer file keeps the other rules above it', async (t) => {
  const { directory, git } = createRepository(t)
  writeTree(directory, {
    '.gitignore': 'out\n*.log\n',
    'web/.gitignore': '!out\n',
    'web/out/app.js': '',
    'web/out/a.log': '',
    'web/out/out/x': '',
    'out/x': '',
  })

  assert.deepEqual(await listPaths(directory), seenByGit(git))
})

test('outside of a repository the .gitignore files above the folder are ignored', async (t) => {
  const directory = temporaryDirectory(t)
  writeTree(directory, { '.gitignore': '*', 'app/.gitignore': 'b', 'app/a': '', 'app/b': '' })

  assert.deepEqual(await listPaths(join(directory, 'app')), ['.gitignore', 'a'])
})

test('.berthignore overrides .gitignore in both directions', async (t) => {
  const directory = temporaryDirectory(t)
  writeTree(directory, {
    '.gitignore': 'dist\n*.log\n',
    '.berthignore': '!dist\n/test\n*.md\n!README.md\n',
    'dist/app.js': '',
    'dist/a.log': '',
    'test/a.test.js': '',
    'README.md': '',
    'NOTES.md': '',
    'web/.gitignore': 'dist\n',
    'web/dist/site.js': '',
  })

  const paths = await listPaths(directory)

  const dots = ['.berthignore', '.gitignore']
  assert.deepEqual(paths, [...dots, 'README.md', 'dist/app.js', 'web/.gitignore', 'web/dist/site.js'])
})

test('by default .env and node_modules are excluded everywhere; a rule re-includes them', async (t) => {
  const folder = temporaryDirectory(t)
  const kept = ['.env.example', '.env.production', 'web/.environment', 'web/env']
  const left = [
    '.env',
    '.env.local',
    'web/.env.production.local',
    'node_modules/a/b.js',
    'web/node_modules/c.js',
  ]
  writeTree(folder, Object.fromEntries([...kept, ...left].map((path) => [path, ''])))

  assert.deepEqual(await listPaths(folder), kept)

  writeTree(folder, { 'web/.gitignore': '!node_modules\n', '.berthignore': '!.env\n' })
  const back = ['.berthignore', '.env', 'web/.gitignore', 'web/node_modules/c.js']
  assert.deepEqual(await listPaths(folder), [...kept, ...back].toSorted())
})

test('.git is excluded at every depth, as a folder or a file', async (t) => {
  const directory = temporaryDirectory(t)
  writeTree(directory, { '.git/HEAD': '', 'sub/.git': 'gitdir: ../.git', 'sub/a': '', '.github/x': '' })

  assert.deepEqual(await listPaths(directory), ['.github/x', 'sub/a'])
})

/** Of files and links. */
async function listPaths(folder: string): Promise<string[]> {
  const options = { signal: new AbortController().signal, onProgress: () => {} }
  const { entries } = await listSource(folder, options)
  return entries.filter(({ kind }) => kind !== 'folder').map(({ path }) => path)
}

function seenByGit(git: (...args: string[]) => string): string[] {
  const listed = git('ls-files', '-z', '--others', '--exclude-standard')
  return listed.split('\0').filter(Boolean).sort(byPath)
}

/** As the walk goes: name by name. */
function byPath(one: string, other: string): number {
  const [names, others] = [one.split('/'), other.split('/')]
  const index = names.findIndex((name, place) => name !== others[place])
  return (names[index] ?? '') < (others[index] ?? '') ? -1 : 1
}
