// A repository given by its path grants no more than every user of the host may read. Runs as root: that is
// where a path could read everything.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openLocal } from '../../src/git/local.ts'
import { type CheckoutOptions, readTree, startCheckout } from '../support/git/checkout.ts'
import { createRepository, type TestRepository } from '../support/git/repository.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const otherUser = 54_321
const shadow = { shadow: 'root:$6$hash' }

function openDirectory(t: TestContext): string {
  const directory = temporaryDirectory(t)
  chmodSync(directory, 0o755)
  return directory
}

/** Like a repository of etckeeper: only root may enter it. */
function createPrivate(t: TestContext, root = openDirectory(t)): TestRepository {
  const repository = createRepository(t, { root, name: 'private' })
  repository.commit('Save', shadow)
  chmodSync(repository.directory, 0o700)
  return repository
}

async function assertRefused(t: TestContext, options: CheckoutOptions, path: string, mode: string) {
  const checkout = startCheckout(t, options)
  await assert.rejects(checkout.done, (error: Error & { code: string; hint: string }) => {
    assert.equal(error.code, 'repository_private', error.message)
    assert.match(error.message, new RegExp(`^cannot read ${options.url}: ${path} has mode ${mode}, but`))
    assert.match(error.hint, /chmod o\+rX.* --local-repositories \//)
    return true
  })
  assert.equal(JSON.stringify(readTree(checkout.directory)).includes('hash'), false)
}

test('a repository that only root can read is refused with the reason', async (t) => {
  const { directory } = createPrivate(t)
  await assertRefused(t, { url: directory }, directory, '0700')
})

test('a repository below a directory that only root can enter is refused, also through a link', async (t) => {
  const root = openDirectory(t)
  const closed = join(root, 'closed')
  mkdirSync(closed)
  const { directory } = createPrivate(t, closed)
  chmodSync(directory, 0o755)
  chmodSync(closed, 0o700)
  symlinkSync(directory, join(root, 'link'))

  await assertRefused(t, { url: directory }, closed, '0700')
  await assertRefused(t, { url: join(root, 'link') }, closed, '0700')
  await assertRefused(t, { url: join(closed, 'absent') }, closed, '0700')
})

test('a repository whose files only root can read is refused', async (t) => {
  const repository = createPrivate(t)
  chmodSync(repository.directory, 0o755)
  const objects = join(repository.directory, '.git/objects')
  const folder = readdirSync(objects).find((name) => name.length === 2)!
  const file = join(objects, folder, readdirSync(join(objects, folder))[0]!)
  chmodSync(file, 0o600)
  await assertRefused(t, { url: repository.directory }, file, '0600')
})

/** Each makes a repository that all users may read, but with the objects of the private one. */
const detours: Record<string, (priv: string, open: string) => void> = {
  'the objects of another as its alternates': (priv, open) => {
    git('clone', '--quiet', '--shared', priv, open)
  },
  'a file in place of its .git': (priv, open) => {
    mkdirSync(open)
    writeFileSync(join(open, '.git'), `gitdir: ${join(priv, '.git')}\n`)
  },
  'a link in place of its .git': (priv, open) => {
    mkdirSync(open)
    symlinkSync(join(priv, '.git'), join(open, '.git'))
  },
  'a link in place of its objects': (priv, open) => {
    git('clone', '--quiet', priv, open)
    renameSync(join(open, '.git/objects'), join(open, '.git/former'))
    symlinkSync(join(priv, '.git/objects'), join(open, '.git/objects'))
  },
  'a worktree of another': (priv, open) => {
    git('-C', priv, 'worktree', 'add', '--quiet', '--detach', open)
  },
}

for (const [what, make] of Object.entries(detours)) {
  test(`a world-readable repository is refused if it is or has ${what}`, async (t) => {
    const { directory: priv, root } = createPrivate(t)
    const open = join(root, 'open')
    make(priv, open)
    const message =
      /^cannot read \/.*\/open: \/.*\/open\/.* leads to another place, .* --local-repositories \//
    await assert.rejects(startCheckout(t, { url: open }).done, { code: 'repository_private', message })
  })
}

test('a bundle that only root can read is not read by git either', async (t) => {
  const repository = createPrivate(t)
  const bundle = join(repository.root, 'saved.bundle')
  repository.git('bundle', 'create', '--quiet', bundle, 'main')
  chmodSync(bundle, 0o600)
  await assertRefused(t, { url: bundle }, bundle, '0600')

  chmodSync(bundle, 0o644)
  await assert.rejects(startCheckout(t, { url: bundle }).done, { code: 'git_remote_unreachable' })
})

test('changes between the check and its use are refused by the kernel', async (t) => {
  const priv = createPrivate(t)
  const open = createRepository(t, { root: priv.root, name: 'open' })
  open.commit('First', { file: 'one' })
  const { url, uploadPack } = await openLocal(open.directory, [])
  assert.equal(list(url, uploadPack).status, 0)

  renameSync(open.directory, `${open.directory}.former`)
  symlinkSync(priv.directory, open.directory)

  const { status, stderr } = list(url, uploadPack)
  assert.equal(status, 128)
  assert.match(stderr, /does not appear to be a git repository|Permission denied/)
})

test('safe.directory names only this repository, and another one of its owner stays refused', async (t) => {
  const mine = createRepository(t)
  mine.commit('First', { file: 'one' })
  const theirs = createRepository(t, { root: mine.root, name: 'theirs' })
  theirs.commit('First', { file: 'two' })
  chownAll(theirs.directory, otherUser)

  const checkout = startCheckout(t, { url: theirs.directory })
  await checkout.done
  assert.deepEqual(readTree(checkout.directory), { file: 'two' })
  const { uploadPack } = await openLocal(mine.directory, [])
  assert.equal(uploadPack.includes('*'), false)
  assert.match(list(theirs.directory, uploadPack).stderr, /dubious ownership/)
})

test('below --local-repositories a private repository is read, but not a link that leaves it', async (t) => {
  const repository = createPrivate(t)
  const { directory, root } = repository
  const checkout = startCheckout(t, { url: directory, localRepositories: ['/absent', root] })
  await checkout.done
  assert.deepEqual(readTree(checkout.directory), shadow)

  const named = openDirectory(t)
  symlinkSync(directory, join(named, 'link'))
  await assertRefused(t, { url: join(named, 'link'), localRepositories: [named] }, directory, '0700')
  await assertRefused(t, { url: directory, localRepositories: [`${root}/priv`] }, directory, '0700')
})

test("below --local-repositories another user's repository is read with that user's rights", async (t) => {
  const { directory: priv, root } = createPrivate(t)
  const named = join(root, 'named')
  mkdirSync(named)
  const ownRepository = createRepository(t, { root: named, name: 'own' })
  ownRepository.commit('First', { file: 'one' })
  git('clone', '--quiet', '--shared', priv, join(named, 'borrowed'))
  for (const name of ['own', 'borrowed']) chownAll(join(named, name), otherUser)
  chmodSync(ownRepository.directory, 0o700)

  const checkout = startCheckout(t, { url: ownRepository.directory, localRepositories: [named] })
  await checkout.done
  assert.deepEqual(readTree(checkout.directory), { file: 'one' })
  const borrowed = startCheckout(t, { url: join(named, 'borrowed'), localRepositories: [named] })
  await assert.rejects(borrowed.done)
  assert.equal(JSON.stringify(readTree(borrowed.directory)).includes('hash'), false)
})

const asOther = `
  import { openLocal } from './src/git/local.ts'
  const said = await openLocal(process.argv[1], []).then((access) => access.uploadPack, (error) => error.code)
  process.stdout.write(said)
`

test('a berthd that is not root refuses files that its user can read and others cannot', (t) => {
  const repository = createPrivate(t)
  chownAll(repository.directory, otherUser)
  const home = openDirectory(t)
  chownSync(home, otherUser, otherUser)
  const ask = () => {
    const flags = ['--import', 'tsx', '--input-type=module', '--eval', asOther, '--', repository.directory]
    const env = { PATH: process.env.PATH, HOME: home, TMPDIR: home }
    const cwd = new URL('../..', import.meta.url).pathname
    const ids = { uid: otherUser, gid: otherUser }
    return spawnSync(process.execPath, flags, { cwd, env, ...ids, encoding: 'utf8' }).stdout
  }
  assert.equal(ask(), 'repository_private')

  chmodSync(repository.directory, 0o755)
  assert.match(ask(), /^git -c safe\.directory='\/.*\/private' -c .* upload-pack --strict$/)
})

function list(url: string, uploadPack: string) {
  return git('ls-remote', `--upload-pack=${uploadPack}`, '--', url)
}

function git(...args: string[]) {
  const env = { PATH: process.env.PATH, HOME: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }
  return spawnSync('git', args, { env, encoding: 'utf8' })
}

function chownAll(path: string, id: number): void {
  chownSync(path, id, id)
  if (!lstatSync(path).isDirectory()) return
  for (const name of readdirSync(path)) chownAll(join(path, name), id)
}
