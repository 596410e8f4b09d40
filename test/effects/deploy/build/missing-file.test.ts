// A file that a Dockerfile copies and that the build does not get: the failure says where it got lost.
import assert from 'node:assert/strict'
import { realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { explainMissingFile } from '../../../../src/effects/deploy/build/dockerfile.ts'
import { Failure } from '../../../../src/errors.ts'
import { writeTree } from '../../../support/archive/write-tree.ts'
import { temporaryDirectory } from '../../../support/system/directory.ts'

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
    name: 'a folder that git ignores, in a repository',
    files: { '.gitignore': '# build\n/node_modules\ndist\n' },
    missing: 'dist/api',
    reason: '.gitignore leaves it out of the repository; a step of the Dockerfile must make it',
  },
  {
    name: 'a folder that git ignores, in an upload',
    files: { '.gitignore': 'dist/' },
    isUpload: true,
    missing: 'dist/api',
    reason: '.gitignore leaves it out of uploads; to send it, write !dist into .berthignore',
  },
  {
    name: 'a file in a folder of any depth that git ignores, in an upload',
    files: { '.gitignore': 'dist', 'packages/web/package.json': '' },
    isUpload: true,
    missing: 'packages/web/dist/app.js',
    reason: '.gitignore leaves it out of uploads; to send it, write !packages/web/dist into .berthignore',
  },
  {
    name: 'a file that git ignores in a root directory, in an upload',
    files: { 'web/.gitignore': '*.js', 'web/Dockerfile': '' },
    isUpload: true,
    rootDir: 'web',
    missing: 'app.js',
    reason: '.gitignore leaves it out of uploads; to send it, write !web/app.js into .berthignore',
  },
  {
    name: 'a folder that a .gitignore below the top names',
    files: { 'web/.gitignore': '/out', 'web/Dockerfile': '' },
    rootDir: 'web',
    missing: 'out',
    reason: '.gitignore leaves it out of the repository; a step of the Dockerfile must make it',
  },
  {
    name: 'a file that is nowhere',
    files: { '.gitignore': '/other\n!dist\n**/*/**/*/**/x' },
    missing: 'dist/api',
    reason: 'it is not in the source',
  },
]

for (const { name, files, rootDir = '.', missing, reason, isUpload = false } of cases) {
  test(`the reason is named for ${name}`, async (t) => {
    const sourceDir = realpathSync(temporaryDirectory(t))
    writeTree(sourceDir, files)
    const failure = new Failure('build_failed', 'COPY x y: there is no x in the build context')

    const explained = await explainMissingFile(failure.with({ step: 'COPY x y', missing_path: missing }), {
      contextDir: join(sourceDir, rootDir),
      dockerfile: 'Dockerfile',
      sourceDir,
      isUpload,
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
    const source = { contextDir: sourceDir, dockerfile: 'Dockerfile', sourceDir, isUpload: false }
    return ((await explainMissingFile(failure, source)) as Failure).message
  }

  for (const path of ['../secret', 'a/../../secret', '/../secret', 'link', 'folder/secret'])
    assert.equal(await reasonOf(path), 'COPY x: it is not in the source', path)
  assert.equal(await reasonOf('../app'), 'COPY x: it is in the source, but .dockerignore leaves it out')
})

test('other failures stay as they are', async () => {
  const source = { contextDir: '/', dockerfile: 'Dockerfile', sourceDir: '/', isUpload: false }
  for (const error of [new Error('lost'), new Failure('build_failed', 'RUN x exited with code 1')]) {
    assert.equal(await explainMissingFile(error, source), error)
  }
})
