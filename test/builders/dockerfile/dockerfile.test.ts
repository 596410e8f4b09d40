// What the failures of a Dockerfile say.
import assert from 'node:assert/strict'
import { realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { explainMissingFile } from '../../../src/builders/dockerfile/dockerfile.ts'
import { Failure } from '../../../src/errors.ts'
import { archive } from '../../../src/sources/archive.ts'
import { git } from '../../../src/sources/git.ts'
import { writeTree } from '../../support/archive/write-tree.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const nowhere = 'it is not in the source; if .gitignore leaves it out, a step of the Dockerfile must make it'

const cases = [
  {
    name: 'a file that .dockerignore excludes',
    files: { '.dockerignore': '*\n!src', 'server.js': '' },
    missing: 'server.js',
    reason: 'it is in the source, but .dockerignore leaves it out',
  },
  {
    name: "a file that the Dockerfile's own ignore file excludes",
    files: { '.dockerignore': '', 'Dockerfile.dockerignore': 'server.js', 'server.js': '' },
    missing: 'server.js',
    reason: 'it is in the source, but Dockerfile.dockerignore leaves it out',
  },
  {
    name: 'a file outside the root directory',
    files: { 'apps/my api/Dockerfile': '', 'packages/shared/index.js': '' },
    rootDir: 'apps/my api',
    missing: 'packages/shared',
    reason: 'it is in the source, but the build sees only apps/my api (root_dir)',
  },
  {
    name: 'a file that is nowhere in a repository',
    files: {},
    missing: 'dist/api',
    reason: nowhere,
  },
  {
    name: 'a file that is nowhere in an upload',
    files: {},
    from: archive,
    missing: 'dist/api',
    reason:
      'it is not in the source; ' +
      'if .gitignore leaves it out of uploads, write it or its folder into .berthignore, after a !',
  },
]

for (const { name, files, rootDir = '.', missing, reason, from = git } of cases) {
  test(`the reason is named for ${name}`, async (t) => {
    const sourceDir = realpathSync(temporaryDirectory(t))
    writeTree(sourceDir, files)
    const failure = new Failure('build_failed', 'COPY x y: there is no x in the build context')

    const explained = await explainMissingFile(failure.with({ step: 'COPY x y', missing_path: missing }), {
      contextDir: join(sourceDir, rootDir),
      dockerfile: 'Dockerfile',
      sourceDir,
      ...from,
    })

    assert.ok(explained instanceof Failure)
    assert.equal(explained.message, `COPY x y: there is no x in the build context: ${reason}`)
  })
}

test('the reason never depends on files of the host outside the source', async (t) => {
  const outside = realpathSync(temporaryDirectory(t))
  const sourceDir = join(outside, 'source')
  writeTree(outside, { secret: '', 'source/.gitignore': '', 'source/app': '' })
  symlinkSync(join(outside, 'secret'), join(sourceDir, 'link'))
  symlinkSync(outside, join(sourceDir, 'folder'))
  symlinkSync(join(outside, 'secret'), join(sourceDir, 'Dockerfile.dockerignore'))
  const reasonOf = async (missing: string) => {
    const failure = new Failure('build_failed', 'COPY x').with({ missing_path: missing })
    const source = { contextDir: sourceDir, dockerfile: 'Dockerfile', sourceDir, ...git }
    return ((await explainMissingFile(failure, source)) as Failure).message
  }

  for (const path of ['../secret', 'a/../../secret', '/../secret', 'link', 'folder/secret'])
    assert.equal(await reasonOf(path), `COPY x: ${nowhere}`, path)
  assert.equal(await reasonOf('../app'), 'COPY x: it is in the source, but .dockerignore leaves it out')
})

test('other failures stay as they are', async () => {
  const source = { contextDir: '/', dockerfile: 'Dockerfile', sourceDir: '/', ...git }
  for (const error of [new Error('lost'), new Failure('build_failed', 'RUN x exited with code 1')]) {
    assert.equal(await explainMissingFile(error, source), error)
  }
})
