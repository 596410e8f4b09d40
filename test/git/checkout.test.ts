// What a checkout leaves on disk, and what a repository cannot make git do.
import assert from 'node:assert/strict'
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readTree, startCheckout } from '../support/git/checkout.ts'
import { createGitServer } from '../support/git/git-server.ts'
import { createRepository } from '../support/git/repository.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

test('the head of a branch is checked out as plain files, with its commit', async (t) => {
  const repository = createRepository(t)
  repository.commit('First', { 'README.md': 'one' })
  const sha = repository.commit('Fix the login\n\nIt was broken.', {
    'README.md': 'two',
    'src/app.js': 'run()',
  })
  const { url } = await createGitServer(t, repository)

  const { directory, lines, done } = startCheckout(t, { url: `${url}/app` })

  const commitMessage = 'Fix the login\n\nIt was broken.'
  assert.deepEqual(await done, { commitSha: sha, commitMessage, branch: 'main' })
  assert.deepEqual(readTree(directory), { 'README.md': 'two', 'src/app.js': 'run()' })
  assert.equal(lines[0], `cloning ${url}/app branch main`)
  assert.equal(lines.at(-1), `checked out ${sha.slice(0, 7)} Fix the login`)
})

test('another branch than the default one is checked out by its name', async (t) => {
  const repository = createRepository(t)
  repository.commit('First', { file: 'main' })
  repository.git('checkout', '--quiet', '-b', 'feature/login')
  const sha = repository.commit('Second', { file: 'feature' })
  repository.checkout('main')

  const { directory, done } = startCheckout(t, { url: repository.directory, branch: 'feature/login' })

  assert.equal((await done).commitSha, sha)
  assert.deepEqual(readTree(directory), { file: 'feature' })
})

test('earlier files of the directory are removed by the checkout', async (t) => {
  const repository = createRepository(t)
  repository.commit('First', { file: 'new' })
  const directory = join(temporaryDirectory(t), 'source')
  mkdirSync(join(directory, '.git'), { recursive: true })
  writeFileSync(join(directory, '.git/config'), 'broken [')
  writeFileSync(join(directory, 'left-over'), 'old')

  await startCheckout(t, { url: repository.directory, directory }).done

  assert.deepEqual(readTree(directory), { file: 'new' })
})

test('a repository with SHA-256 hashes is checked out like any other', async (t) => {
  const repository = createRepository(t, { hash: 'sha256' })
  const sha = repository.commit('First', { file: 'one' })
  const { url } = await createGitServer(t, repository)

  for (const commit of [undefined, sha, sha.slice(0, 8)]) {
    const { done } = startCheckout(t, { url: `${url}/app`, ...(commit === undefined ? {} : { commit }) })
    assert.deepEqual(await done, { commitSha: sha, commitMessage: 'First', branch: 'main' })
  }
})

test('a repository of another user is read when its path is named', {
  skip: process.getuid?.() !== 0,
}, async (t) => {
  const repository = createRepository(t)
  repository.commit('First', { file: 'one' })
  chmodSync(repository.root, 0o755)
  for (const directory of [repository.directory, join(repository.directory, '.git')])
    chownSync(directory, 12345, 12345)

  const { directory, done } = startCheckout(t, { url: repository.directory })

  await done
  assert.deepEqual(readTree(directory), { file: 'one' })
})

test('links stay links, including those that point out of the checkout', async (t) => {
  const repository = createRepository(t)
  repository.commit('First', { inside: { symlink: 'file' }, outside: { symlink: '/etc/passwd' }, file: '' })

  const { directory, done } = startCheckout(t, { url: repository.directory })

  await done
  assert.deepEqual(readTree(directory), { file: '', inside: '-> file', outside: '-> /etc/passwd' })
})

test('a repository cannot run a filter or change files by its attributes', async (t) => {
  const repository = createRepository(t)
  const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n'
  const attributes = '*.bin filter=lfs\nsecret export-ignore\nversion export-subst\n'
  const files = { '.gitattributes': attributes, 'a.bin': pointer, secret: 's', version: '$Format:%H$' }
  repository.commit('First', files)

  const { directory, done } = startCheckout(t, { url: repository.directory })

  await done
  assert.deepEqual(readTree(directory), files)
})

test('hooks of the host’s git templates do not run', async (t) => {
  const repository = createRepository(t)
  repository.commit('First', { file: '' })
  const templates = temporaryDirectory(t)
  mkdirSync(join(templates, 'hooks'))
  const proof = join(templates, 'ran')
  writeFileSync(join(templates, 'hooks/post-checkout'), `#!/bin/sh\ntouch ${proof}\n`, { mode: 0o755 })
  process.env.GIT_TEMPLATE_DIR = templates
  t.after(() => delete process.env.GIT_TEMPLATE_DIR)

  await startCheckout(t, { url: repository.directory }).done

  assert.deepEqual([existsSync(proof), readdirSync(templates)], [false, ['hooks']])
})

test('a long commit message is truncated to 4 KiB of whole characters', async (t) => {
  const repository = createRepository(t)
  repository.commit(`a${'é'.repeat(4000)}`, {})

  const { commitMessage } = await startCheckout(t, { url: repository.directory }).done

  assert.equal(commitMessage, `a${'é'.repeat(2047)}`)

  repository.commit('b'.repeat(100_000), {})
  const second = await startCheckout(t, { url: repository.directory }).done
  assert.equal(second.commitMessage, 'b'.repeat(4096))
})

test('a branch or commit that looks like an option is refused before git sees it', async (t) => {
  const repository = createRepository(t)
  const proof = join(repository.root, 'owned')

  const unusual = `--upload-pack=touch ${proof}`
  await assert.rejects(startCheckout(t, { url: repository.directory, branch: unusual }).done, {
    code: 'invalid_request',
  })
  await assert.rejects(startCheckout(t, { url: repository.directory, commit: unusual }).done, {
    code: 'invalid_request',
  })

  assert.equal(existsSync(proof), false)
})
