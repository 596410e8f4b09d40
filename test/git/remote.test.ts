// What a remote that refuses, breaks or is not there is called, and the list of branches.
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { listBranches } from '../../src/git/remote.ts'
import { parseRepositoryUrl } from '../../src/git/repository.ts'
import { readTree, startCheckout } from '../support/git/checkout.ts'
import { createGitServer, testHostRules } from '../support/git/git-server.ts'
import { createRepository } from '../support/git/repository.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const noSignal = new AbortController().signal

function branchesOf(url: string, signal = noSignal) {
  const repository = parseRepositoryUrl(url)
  const options = { ssh: null, localRepositories: [], hostRules: testHostRules, marker: 'list' }
  return listBranches({ repository, credentials: null, ...options, signal })
}

test('branches are listed with the default branch first and the others by name', async (t) => {
  const repository = createRepository(t)
  const sha = repository.commit('First', {})
  for (const name of ['a', 'feature/z', 'b']) repository.branch(name)
  repository.tag('v1')
  const { url } = await createGitServer(t, repository)

  const list = await branchesOf(`${url}/app`)

  const branches = ['main', 'a', 'b', 'feature/z'].map((name) => ({ name, sha }))
  assert.deepEqual(list, { defaultBranch: 'main', branches })
  assert.deepEqual(await branchesOf(repository.directory), list)
})

test('more than 100,000 branches are refused with the limit', async (t) => {
  const repository = createRepository(t)
  const sha = repository.commit('First', {})
  const names = Array.from({ length: 100_000 }, (_, at) => `${sha} refs/heads/${String(at).padStart(6, '0')}`)
  const header = '# pack-refs with: peeled fully-peeled '
  writeFileSync(join(repository.directory, '.git/packed-refs'), `${[header, ...names].join('\n')}\n`)

  await assert.rejects(branchesOf(repository.directory), {
    code: 'git_remote_unreachable',
    message: `cannot read ${repository.directory}: it has more than 100000 branches`,
  })
})

test('an empty repository has no branches and no default branch', async (t) => {
  const { directory } = createRepository(t)

  assert.deepEqual(await branchesOf(directory), { defaultBranch: null, branches: [] })
})

test('listing branches ends with the abort of its caller', async (t) => {
  const { url } = await createGitServer(t, { ...createRepository(t), answer: () => 'hang' })

  await assert.rejects(branchesOf(`${url}/app`, AbortSignal.timeout(200)), { name: 'TimeoutError' })
})

const advice = 'if it is private, connect its account (berth git connect), or add user:token@ to its URL'

test("a missing repository is reported with the server's message", async (t) => {
  const { url } = await createGitServer(t, {
    ...createRepository(t),
    answer: () => ({ status: 404, text: 'Repository not found.\n' }),
  })

  await assert.rejects(startCheckout(t, { url: `${url}/web` }).done, {
    code: 'git_remote_unreachable',
    message: `cannot read ${url}/web: repository '${url}/web/' not found (Repository not found.); ${advice}`,
  })
})

test('a failing server is reported with its status and without advice', async (t) => {
  const { url } = await createGitServer(t, { ...createRepository(t), answer: () => ({ status: 500 }) })

  await assert.rejects(branchesOf(`${url}/app`), {
    code: 'git_remote_unreachable',
    message: `cannot read ${url}/app: The requested URL returned error: 500`,
  })
})

/** What ssh itself says comes with a return at the end of its lines. */
const absent: [url: string, reason: string, ssh?: string][] = [
  ['http://127.0.0.1:9/app', 'nothing listens at its address'],
  [
    'ssh://git@127.0.0.1:9/app',
    'nothing listens at its address',
    'ssh: connect to host 127.0.0.1 port 9: Connection refused',
  ],
  ['https://git.invalid/app', 'its host name cannot be resolved'],
  [
    'git@git.invalid:app',
    'its host name cannot be resolved',
    'ssh: Could not resolve hostname git.invalid: Name or service not known',
  ],
]

for (const [url, reason, ssh] of absent) {
  test(`a missing ${url} is reported without advice on its credentials`, async (t) => {
    if (ssh) installSsh(t, `printf '${ssh}\\r\\n' >&2; exit 255`)

    await assert.rejects(startCheckout(t, { url }).done, {
      code: 'git_remote_unreachable',
      message: `cannot read ${url}: ${reason}`,
    })
  })
}

test('a path without a repository is reported as such', async (t) => {
  const directory = temporaryDirectory(t)
  chmodSync(directory, 0o755)

  await assert.rejects(startCheckout(t, { url: directory }).done, {
    code: 'git_remote_unreachable',
    message:
      `cannot read ${directory}: '${directory}' does not appear to be a git repository; ` +
      'the path must be a git repository that every user of this host may read, or lie below ' +
      '--local-repositories',
  })
})

/** An `ssh` that notes its arguments and runs the last of them here, or refuses. */
function installSsh(t: TestContext, action: string) {
  const directory = temporaryDirectory(t)
  const notes = join(directory, 'notes')
  mkdirSync(join(directory, 'bin'))
  const script = `#!/bin/sh\necho "$@" > ${notes}\nfor last; do :; done\n${action}\n`
  writeFileSync(join(directory, 'bin/ssh'), script)
  chmodSync(join(directory, 'bin/ssh'), 0o755)
  const { PATH } = process.env
  process.env.PATH = `${join(directory, 'bin')}:${PATH}`
  t.after(() => {
    process.env.PATH = PATH
  })
  return { notes, directory }
}

test('a repository is checked out over ssh without prompts', async (t) => {
  const repository = createRepository(t)
  repository.commit('First', { file: 'one' })
  const { directory } = installSsh(t, `cd ${repository.root} && eval "$last"`)

  for (const url of ['git@example.com:app', `ssh://git@example.com:2222${repository.directory}`]) {
    const checkout = startCheckout(t, { url })
    await checkout.done
    assert.deepEqual(readTree(checkout.directory), { file: 'one' })
  }

  const { notes } = readTree(directory)
  assert.match(
    notes ?? '',
    /-o BatchMode=yes .*-o StrictHostKeyChecking=accept-new .*-p 2222 git@example\.com/,
  )
})

test('a key that the ssh server rejects is reported with the remedy', async (t) => {
  installSsh(t, 'echo "git@example.com: Permission denied (publickey)." >&2; exit 255')

  await assert.rejects(startCheckout(t, { url: 'git@example.com:acme/web.git' }).done, {
    code: 'git_remote_unreachable',
    message:
      'cannot read git@example.com:acme/web.git: git@example.com: Permission denied (publickey); ' +
      'if it is private, give the service a deploy key: berth deploy-key NAME',
  })
})
