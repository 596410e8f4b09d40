import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findDockerfiles, findUsualDockerfile } from '../../src/domain/dockerfiles.ts'
import { writeTree } from '../support/archive/write-tree.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

test('Dockerfiles are found by their usual names, the nearest to the top first', async (t) => {
  const directory = temporaryDirectory(t)
  const names = ['a/b/Dockerfile', 'backend/dockerfile', 'backend/prod.Dockerfile', 'Containerfile']
  const others = [
    'Dockerfile.dockerignore',
    'docs/Dockerfile files.md',
    'node_modules/x/Dockerfile',
    '.git/Dockerfile',
  ]
  writeTree(directory, Object.fromEntries([...names, ...others].map((name) => [name, ''])))

  assert.deepEqual(await findDockerfiles(directory), [
    'Containerfile',
    'backend/dockerfile',
    'backend/prod.Dockerfile',
    'a/b/Dockerfile',
  ])
})

test('at most five are listed', async (t) => {
  const directory = temporaryDirectory(t)
  writeTree(
    directory,
    Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`${index}/Dockerfile`, ''])),
  )

  assert.equal((await findDockerfiles(directory)).length, 5)
})

test('the Dockerfile of a folder has any case and both names; for a site only the usual one', () => {
  assert.equal(findUsualDockerfile(['containerfile', 'dockerfile', 'Dockerfile']), 'Dockerfile')
  assert.equal(findUsualDockerfile(['Containerfile', 'DOCKERFILE']), 'DOCKERFILE')
  assert.equal(findUsualDockerfile(['Containerfile']), 'Containerfile')
  assert.equal(findUsualDockerfile(['Dockerfile.prod', 'Dockerfile.dockerignore']), undefined)
  assert.equal(findUsualDockerfile(['dockerfile', 'Containerfile'], 'static_site'), undefined)
})
