// What is read of a push: its message and its paths, without contents and history.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { type TestContext, test } from 'node:test'
import { readPushedChanges } from '../../src/git/pushed-changes.ts'
import { readHead, readHighestTags } from '../../src/git/remote.ts'
import { parseRepositoryUrl } from '../../src/git/repository.ts'
import { createGitServer, testHostRules } from '../support/git/git-server.ts'
import {
  createRepository,
  type TestRepository,
  type TestRepositoryOptions,
} from '../support/git/repository.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

async function openPush(t: TestContext, options: TestRepositoryOptions = {}) {
  const repository = createRepository(t, options)
  const directory = temporaryDirectory(t)
  const place = (url: string) => ({
    repository: parseRepositoryUrl(url),
    credentials: null,
    ssh: null,
    localRepositories: [],
    hostRules: testHostRules,
    marker: 'push',
    signal: t.signal,
  })
  const read = (url: string, head: string, base: string | null) =>
    readPushedChanges({ ...place(url), directory }, { head, base })
  return { repository, directory, place, read }
}

async function serve(t: TestContext, repository: TestRepository): Promise<string> {
  const { url } = await createGitServer(t, repository)
  return `${url}/app`
}

test('the paths between two commits are read, with odd names, and nothing of their contents', async (t) => {
  const { repository, directory, read } = await openPush(t)
  repository.git('config', 'uploadpack.allowFilter', 'true')
  const first = repository.commit('First', { 'a/b': '1', c: '2', same: 'x' })
  repository.commit('Second', { 'a/b': 'secret content', 'a/ü\n"': 'new' })
  repository.git('rm', '--quiet', 'c')
  const head = repository.commit('Third\n\nDetails', {})
  const url = await serve(t, repository)

  const changes = await read(url, head, first)

  assert.deepEqual(changes, { message: 'Third\n\nDetails', paths: ['a/b', 'a/ü\n"', 'c'] })
  const objects = execFileSync('git', ['cat-file', '--batch-all-objects', '--batch-check'], {
    cwd: directory,
  })
  assert.doesNotMatch(objects.toString(), / blob /)
  assert.deepEqual(await read(url, head, head), { message: 'Third\n\nDetails', paths: [] })
  const long = repository.commit('b'.repeat(100_000), {})
  assert.equal((await read(url, long, null)).message, 'b'.repeat(4096))
})

test('a server without filters, and one with long ids, work too', async (t) => {
  for (const hash of ['sha1', 'sha256'] as const) {
    const { repository, read } = await openPush(t, { hash })
    const first = repository.commit('First', { a: '1' })
    const head = repository.commit('Second', { a: '2' })
    const wanted = { message: 'Second', paths: ['a'] }
    assert.deepEqual(await read(repository.directory, head, first), wanted)
    assert.deepEqual(await read(await serve(t, repository), head, first), wanted)
    assert.deepEqual(await read(repository.directory, head, null), { message: 'Second', paths: null })
  }
})

test('the paths are unknown when the earlier commit is gone, and a missing head fails', async (t) => {
  const { repository, read } = await openPush(t)
  const head = repository.commit('First', { a: '1' })
  const gone = '1'.repeat(40)
  assert.deepEqual(await read(repository.directory, head, gone), { message: 'First', paths: null })
  await assert.rejects(read(repository.directory, gone, null), { code: 'git_remote_unreachable' })
})

test('the head of a branch is the one with exactly that name', async (t) => {
  const { repository, place } = await openPush(t)
  const first = repository.commit('First', {})
  for (const name of ['feature/main', 'refs/heads/main', 'a#ü']) repository.branch(name)
  repository.tag('v1')
  const head = repository.commit('Second', {})
  const read = async (branch: string | null) => (await readHead(place(repository.directory), branch)).found

  assert.deepEqual(await Promise.all(['main', 'feature/main', 'a#ü', 'refs/heads/main'].map(read)), [
    head,
    first,
    first,
    first,
  ])
  assert.equal(await read(null), head)
  assert.deepEqual(await Promise.all(['v1', 'heads/main', 'mai'].map(read)), [null, null, null])
})

test('the highest tag is that of the highest version, whether it has a message or not', async (t) => {
  const { repository, place } = await openPush(t)
  const readAll = async (pattern: string) =>
    (await readHighestTags(place(repository.directory), pattern)).found
  const read = async (pattern: string) => (await readAll(pattern))[0]?.commit ?? null
  assert.deepEqual(await readAll('v*'), [])
  const commits: Record<string, string> = {}
  for (const name of ['v1.9', 'v1.10', 'v2.0-rc1', 'v2.0', 'v3.0', 'v3.0.1', 'v4.0-rc1', 'api/v3']) {
    commits[name] = repository.commit(name, {})
    if (name === 'v1.10') repository.tag(name)
    else repository.git('tag', '--annotate', '--message', name, name)
  }
  repository.branch('v9')
  repository.branch('refs/tags/q9')
  repository.tag('x/refs/tags/q8')

  const patterns = ['v1.*', 'v2.0-*', 'v2*', 'v3*', 'api/*', 'v?.?', 'v*', 'q*']
  assert.deepEqual(await Promise.all(patterns.map(read)), [
    commits['v1.10'],
    commits['v2.0-rc1'],
    commits['v2.0'],
    commits['v3.0.1'],
    commits['api/v3'],
    commits['v3.0'],
    commits['v3.0.1'],
    null,
  ])
  const names = async (pattern: string) => (await readAll(pattern)).map(({ name }) => name)
  assert.deepEqual(await names('v*'), ['v3.0.1', 'v3.0', 'v2.0', 'v1.10', 'v1.9', 'v4.0-rc1', 'v2.0-rc1'])
  assert.deepEqual(await names('v*-rc*'), ['v4.0-rc1', 'v2.0-rc1'])
})
