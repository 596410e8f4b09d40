// Submodules: fetched like a source of their own, or refused with a reason a person can act on.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Failure } from '../../src/errors.ts'
import type { History } from '../../src/git/history.ts'
import { parseRepositoryUrl } from '../../src/git/repository.ts'
import { listSubmodules } from '../../src/git/submodules.ts'
import { readTree, startCheckout } from '../support/git/checkout.ts'
import { createGitServer, type GitServerOptions } from '../support/git/git-server.ts'
import { createRepository } from '../support/git/repository.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

/** The repositories `app` and `lib` on one server; `lib` has an older commit and a newer one. */
async function createPair(t: TestContext, options: Partial<GitServerOptions> = {}) {
  const root = temporaryDirectory(t)
  const lib = createRepository(t, { root, name: 'lib' })
  const pinned = lib.commit('Pinned', { 'lib.js': 'pinned' })
  lib.commit('Newer', { 'lib.js': 'newer' })
  const app = createRepository(t, { root, name: 'app' })
  app.commit('App', { 'app.js': 'app' })
  const { url, requests } = await createGitServer(t, { root, ...options })
  return { root, app, lib, pinned, url, requests }
}

test('a submodule with a relative address is checked out at the commit the parent names', async (t) => {
  const { app, pinned, url } = await createPair(t)
  app.submodule('vendor/lib', '../lib', pinned)

  const { directory, lines, done } = startCheckout(t, { url: `${url}/app` })

  await done
  const { '.gitmodules': _, ...files } = readTree(directory)
  assert.deepEqual(files, { 'app.js': 'app', 'vendor/lib/lib.js': 'pinned' })
  assert.equal(lines.includes(`submodule vendor/lib: cloning ${url}/lib commit ${pinned}`), true)
})

test('a submodule of a submodule is checked out too', async (t) => {
  const { root, app, lib, pinned, url } = await createPair(t)
  const deep = createRepository(t, { root, name: 'deep' }).commit('Deep', { 'deep.js': 'deep' })
  assert.notEqual(lib.submodule('deep', `${url}/deep`, deep), pinned)
  app.submodule('lib', `${url}/lib`, lib.git('rev-parse', 'HEAD'))

  const { directory, done } = startCheckout(t, { url: `${url}/app` })

  await done
  assert.equal(readTree(directory)['lib/deep/deep.js'], 'deep')
})

test('a submodule of the same origin gets the credentials of its parent', async (t) => {
  const credentials = { username: 'deploy', password: 'the-secret' }
  const { app, pinned, url } = await createPair(t, { credentials })
  app.submodule('lib', '../lib', pinned)

  const { directory, done } = startCheckout(t, { url: `${url}/app`, credentials })

  await done
  assert.equal(readTree(directory)['lib/lib.js'], 'pinned')
})

test('a submodule of another origin gets no credentials, even on request', async (t) => {
  const credentials = { username: 'deploy', password: 'the-secret' }
  const { root, app, pinned, url } = await createPair(t, { credentials })
  const foreign = await createGitServer(t, { root, credentials })
  app.submodule('lib', `${foreign.url}/lib`, pinned)

  await assert.rejects(startCheckout(t, { url: `${url}/app`, credentials }).done, {
    code: 'git_remote_unreachable',
  })

  assert.deepEqual(new Set(foreign.requests.map(({ authorization }) => authorization)), new Set([null]))
})

const refusals: [url: string, why: string][] = [
  [
    'git@example.com:acme/lib.git',
    'it is fetched over https only, but its URL is ssh; write its https address',
  ],
  ['/etc', 'it is fetched over https only, but its URL is a local path'],
  ['file:///etc', 'repository URL starts with file://; use https://, http://, ssh://, git@host:owner/name'],
  ['ext::/bin/id', 'repository URL has ::, which git takes for the name of a helper program'],
  ['--upload-pack=id', 'repository URL starts with -'],
]

for (const [address, why] of refusals) {
  test(`a submodule at ${address} is refused`, async (t) => {
    const { app, pinned, url } = await createPair(t)
    app.submodule('lib', address, pinned)

    await assert.rejects(startCheckout(t, { url: `${url}/app` }).done, (error: Error & { code: string }) => {
      assert.equal(error.code, 'source_invalid')
      assert.equal(error.message.startsWith(`submodule 'lib' is refused: ${why}`), true, error.message)
      return true
    })
  })
}

test('a submodule next to a local repository is refused, because it would read the host', async (t) => {
  const { app, pinned } = await createPair(t)
  app.submodule('lib', '../lib', pinned)

  await assert.rejects(startCheckout(t, { url: app.directory }).done, {
    code: 'source_invalid',
    message: /^submodule 'lib' is refused: it is fetched over https only, but its URL is a local path; /,
  })
})

test('submodules that refer to themselves end at a fixed depth', async (t) => {
  const { app, pinned, url } = await createPair(t)
  let commit = app.submodule('again', `${url}/app`, pinned)
  for (let depth = 0; depth < 8; depth++) commit = app.submodule('again', `${url}/app`, commit)

  await assert.rejects(startCheckout(t, { url: `${url}/app` }).done, {
    code: 'source_invalid',
    message: 'submodules are nested deeper than 5',
  })
})

test('a submodule with update = none stays an empty folder', async (t) => {
  const { app, pinned, url } = await createPair(t)
  app.submodule('lib', '../lib', pinned, { update: 'none' })

  const { directory, done } = startCheckout(t, { url: `${url}/app` })

  await done
  assert.equal(readTree(directory)['lib/'], '')
})

test('a commit that is missing on the remote of a submodule is not found', async (t) => {
  const { app, url } = await createPair(t)
  const unknown = '0123456789'.repeat(4)
  app.submodule('lib', '../lib', unknown)

  await assert.rejects(startCheckout(t, { url: `${url}/app` }).done, {
    code: 'source_not_found',
    message: `commit ${unknown} is on no branch or tag of ${url}/lib`,
  })
})

test('paths that point out of the checkout are not submodules', async (t) => {
  const { app, pinned, url } = await createPair(t)
  for (const path of ['../lib', '/tmp/lib', '.', 'a//b']) {
    app.git('config', '--file', '.gitmodules', `submodule.${path}.path`, path)
    app.git('config', '--file', '.gitmodules', `submodule.${path}.url`, `${url}/lib`)
  }
  app.submodule('lib', '../lib', pinned)

  const { directory, done } = startCheckout(t, { url: `${url}/app` })

  await done
  const { '.gitmodules': _, ...files } = readTree(directory)
  assert.deepEqual(files, { 'app.js': 'app', 'lib/lib.js': 'pinned' })
})

test('a broken .gitmodules is reported', async (t) => {
  const { app, url } = await createPair(t)
  app.commit('Broken', { '.gitmodules': '[submodule "lib"\n' })

  await assert.rejects(startCheckout(t, { url: `${url}/app` }).done, {
    code: 'source_invalid',
    message: /^\.gitmodules cannot be read as a git configuration: \w+: bad config line 2 /,
  })
})

const section = (name: string, settings: string) => `[submodule "${name}"]\n${settings}`

/** Each is small as a pack, and was read whole. */
const excessive: [what: string, file: string, message: RegExp][] = [
  ['a large file', section('x', 'a=1\n'.repeat(300_000)), /^\.gitmodules is larger than 1 MiB$/],
  [
    'a long name with many settings',
    section('x'.repeat(500_000), 'a=1\n'.repeat(100_000)),
    /^\.gitmodules cannot be read as a git configuration: its output is larger than 4 MiB$/,
  ],
  [
    'many submodules',
    Array.from({ length: 10_001 }, (_, at) => section(`${at}`, `path=${at}\nurl=../lib\n`)).join(''),
    /^\.gitmodules names more than 10000 submodules$/,
  ],
  [
    'a URL of slashes',
    section('x', `path=lib\nurl=/${'/'.repeat(900_000)}x\n`),
    /^submodule 'lib' is refused: repository URL is longer than 2048 characters$/,
  ],
]

for (const [what, file, message] of excessive) {
  test(`a .gitmodules with ${what} is refused with the limit`, async (t) => {
    const { app, pinned, url } = await createPair(t)
    app.git('update-index', '--add', '--cacheinfo', `160000,${pinned},lib`)
    app.commit('Excessive', { '.gitmodules': file, lib: 'x' })
    app.git('update-index', '--replace', '--cacheinfo', `160000,${pinned},lib`)
    app.git('commit', '--quiet', '--message', 'Link')

    const checkout = startCheckout(t, { url: `${url}/app` })

    await assert.rejects(checkout.done, { code: 'source_invalid', message })
  })
}

const overSsh: [parent: string, basePath: string, submodule: string, readAs: string | null][] = [
  ['https://git.example.com/ada/shop', '', 'git@git.example.com:ada/lib.git', '/ada/lib.git'],
  ['https://git.example.com/ada/shop', '', 'ssh://git@git.example.com/ada/lib.git', '/ada/lib.git'],
  ['https://git.example.com/ada/shop', '', 'ssh://git@git.example.com:2222/ada/lib.git', '/ada/lib.git'],
  ['https://git.example.com:8443/ada/shop', '', 'git@git.example.com:ada/lib.git', '/ada/lib.git'],
  ['http://git.example.com:3000/ada/shop', '', 'ssh://git@git.example.com:2222/ada/lib', '/ada/lib'],
  ['https://git.example.com/git/ada/shop', '/git', 'git@git.example.com:/ada/lib.git', '/git/ada/lib.git'],
  ['https://git.example.com/ada/shop', '', 'git@other.example.com:ada/lib.git', null],
]

for (const [address, basePath, submodule, readAs] of overSsh) {
  const outcome = readAs ? 'read like its parent' : 'refused'
  test(`the submodule ${submodule} of ${address} is ${outcome}`, async () => {
    const parent = { repository: parseRepositoryUrl(address), basePath }
    const located = listSubmodules(historyWith(submodule), 'sha', parent)
    if (readAs !== null) {
      assert.equal((await located)[0]?.repository.url, `${new URL(address).origin}${readAs}`)
      return
    }
    const message = /its URL is ssh; write its https address into \.gitmodules$/
    await assert.rejects(located, { code: 'source_invalid', message })
  })
}

test('a submodule that needs the credentials of another owner is reported with the owner', async (t) => {
  const credentials = { username: 'deploy', password: 'the-secret' }
  const { app, pinned, url } = await createPair(t, { credentials })
  app.submodule('lib', '../lib', pinned)
  const accessSubmodule = async () => ({ credentials: null, deniedOwner: 'ada' })

  const { done } = startCheckout(t, { url: `${url}/app`, credentials, accessSubmodule })

  await assert.rejects(done, (error: Failure) => {
    assert.deepEqual(error.facts, { reason: 'submodule_owner', owner: 'ada' })
    assert.match(error.message, /the credentials of this service are not used for repositories of ada$/)
    return true
  })
})

/** The history of a commit with one submodule. */
function historyWith(url: string): History {
  const settings: [string, string][] = [
    ['submodule.lib.path', 'lib'],
    ['submodule.lib.url', url],
  ]
  return {
    settingsOf: async () => settings,
    linkedCommits: async () => new Map([['lib', 'a'.repeat(40)]]),
  } as unknown as History
}
