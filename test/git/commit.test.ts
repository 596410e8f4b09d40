// Which commit is found, how little is fetched for it, and the error if it does not exist.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { readTree, startCheckout } from '../support/git/checkout.ts'
import { createGitServer } from '../support/git/git-server.ts'
import { createRepository } from '../support/git/repository.ts'

/**
 * An old commit on main, one on a branch, one that only a tag holds, and one that only a hidden ref holds.
 */
function createHistory(t: TestContext) {
  const repository = createRepository(t)
  const old = repository.commit('Old', { file: 'old' })
  const head = repository.commit('Head', { file: 'head' })
  repository.git('checkout', '--quiet', '-b', 'side')
  const side = repository.commit('Side', { file: 'side' })
  repository.commit('After side', { file: 'after' })
  repository.git('checkout', '--quiet', '--detach')
  const tagged = repository.commit('Tagged', { file: 'tagged' })
  repository.tag('v1')
  const pull = repository.commit('Pull', { file: 'pull' })
  repository.git('update-ref', 'refs/pull/1/head', pull)
  repository.checkout('main')
  return { repository, commits: { old, head, side, tagged, pull } }
}

for (const [name, digits] of [
  ['old', 10],
  ['pull', 40],
] as const) {
  test(`the ${name} commit is found by ${digits} of its digits`, async (t) => {
    const { repository, commits } = createHistory(t)
    const { url } = await createGitServer(t, repository)

    const commit = commits[name].slice(0, digits)
    const { directory, done } = startCheckout(t, { url: `${url}/app`, commit })

    assert.equal((await done).commitSha, commits[name])
    assert.deepEqual(readTree(directory), { file: name })
  })
}

test('a commit is found although the branch of the service was deleted', async (t) => {
  const { repository, commits } = createHistory(t)

  const commit = commits.old.slice(0, 12)
  const { done } = startCheckout(t, { url: repository.directory, branch: 'deleted', commit })

  assert.equal((await done).commitSha, commits.old)
})

test('a full commit id is found on a server that does not serve commits by id', async (t) => {
  const { repository, commits } = createHistory(t)
  const { url } = await createGitServer(t, { ...repository, speaksOldProtocol: true })

  for (const name of ['old', 'side'] as const) {
    const { done } = startCheckout(t, { url: `${url}/app`, commit: commits[name] })
    assert.equal((await done).commitSha, commits[name])
  }
})

test('an unknown commit is not found', async (t) => {
  const { repository } = createHistory(t)
  const { url } = await createGitServer(t, repository)

  for (const commit of ['0123456789', '0123456789'.repeat(4)]) {
    await assert.rejects(startCheckout(t, { url: `${url}/app`, commit }).done, {
      code: 'source_not_found',
      message: `commit ${commit} is on no branch or tag of ${url}/app`,
    })
  }
})

test('digits that match two commits are refused as ambiguous', async (t) => {
  const repository = createRepository(t)
  const one = repository.commit('No 93', {})
  repository.git('checkout', '--quiet', '--orphan', 'other')
  const other = repository.commit('No 195', {})
  const commit = 'e6f9'
  assert.deepEqual([one.slice(0, 4), other.slice(0, 4)], [commit, commit])

  await assert.rejects(startCheckout(t, { url: repository.directory, branch: 'gone', commit }).done, {
    code: 'source_not_found',
    message: `commit ${commit} is ambiguous; give more of its digits`,
  })
})

test('a missing branch is reported with the default branch', async (t) => {
  const repository = createRepository(t)
  repository.commit('First', {})
  repository.branch('other')

  await assert.rejects(startCheckout(t, { url: repository.directory, branch: 'mian' }).done, {
    code: 'source_not_found',
    message: `branch or tag 'mian' is not in ${repository.directory}: its default branch is 'main'`,
  })
})

test('an empty repository is reported as empty', async (t) => {
  const repository = createRepository(t)
  const { url } = await createGitServer(t, repository)

  await assert.rejects(startCheckout(t, { url: `${url}/app` }).done, {
    code: 'source_not_found',
    message: `branch or tag 'main' is not in ${url}/app: the repository is empty`,
  })
})

test('without a branch the default one of the remote is checked out, whatever its name', async (t) => {
  const repository = createRepository(t)
  repository.commit('First', { 'a.txt': 'main' })
  repository.git('checkout', '--quiet', '-b', 'trunk')
  repository.commit('Second', { 'a.txt': 'trunk' })

  const { done, lines } = startCheckout(t, { url: repository.directory, branch: null })

  const { branch, commitMessage } = await done
  assert.deepEqual([branch, commitMessage.trim()], ['trunk', 'Second'])
  assert.equal(lines[0], 'the default branch is trunk')
})

test('a remote without a default branch gets one if the choice is clear', async (t) => {
  const repository = createRepository(t)
  const commit = repository.commit('First', { 'a.txt': 'one' })
  const find = (wanted?: string) => {
    const options = wanted === undefined ? {} : { commit: wanted }
    return startCheckout(t, { url: repository.directory, branch: null, ...options }).done
  }
  for (const name of ['b', 'a']) repository.branch(name)
  repository.checkout(commit)
  assert.equal((await find()).branch, 'main')

  repository.git('branch', '-D', 'main')
  await assert.rejects(find(), {
    code: 'source_not_found',
    message: `${repository.directory} has no default branch: set the branch to one of 'a', 'b'`,
  })
  assert.deepEqual([(await find(commit)).branch, (await find(commit)).commitSha], [null, commit])
  repository.git('branch', '-D', 'b')
  assert.equal((await find()).branch, 'a')
})

test('a tag is found as the branch and as the commit, with and without a message', async (t) => {
  const { repository, commits } = createHistory(t)
  repository.git('tag', '--annotate', '--message', 'Second', 'v2', commits.side)
  repository.git('tag', 'cafe', commits.old)
  const { url } = await createGitServer(t, repository)
  const find = async (wanted: { branch?: string; commit?: string }) =>
    (await startCheckout(t, { url: `${url}/app`, ...wanted }).done).commitSha

  assert.equal(await find({ branch: 'v1' }), commits.tagged)
  assert.equal(await find({ branch: 'v2' }), commits.side)
  assert.equal(await find({ branch: 'main', commit: 'v2' }), commits.side)
  assert.equal(await find({ branch: 'main', commit: 'cafe' }), commits.old)
  const missing = { code: 'source_not_found', message: /^tag 'v3' is not in / }
  await assert.rejects(find({ branch: 'main', commit: 'v3' }), missing)
})

test('a tag of a file or a folder is said to be no commit', async (t) => {
  const { repository } = createHistory(t)
  for (const [tag, object] of [
    ['file', 'HEAD:file'],
    ['folder', 'HEAD^{tree}'],
  ] as const)
    repository.git('tag', tag, repository.git('rev-parse', object))
  const url = repository.directory

  for (const name of ['file', 'folder']) {
    const message = `tag '${name}' of ${url} is no commit: it names files`
    for (const wanted of [{ commit: name }, { branch: name }])
      await assert.rejects(startCheckout(t, { url, ...wanted }).done, { code: 'source_not_found', message })
  }
})

test('a branch wins over a tag of the same name', async (t) => {
  const { repository, commits } = createHistory(t)
  repository.git('tag', 'side', commits.old)
  const { url } = await createGitServer(t, repository)

  const { done } = startCheckout(t, { url: `${url}/app`, branch: 'side' })

  assert.notEqual((await done).commitSha, commits.old)
})
