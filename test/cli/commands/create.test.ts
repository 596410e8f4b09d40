// `berth create` at a terminal, with answers that will not do.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runBerth } from '../../support/cli/berth.ts'
import { openFakeTerminal } from '../../support/cli/fake-terminal.ts'
import { daemonSuite } from '../../support/daemon/suite.ts'
import { createGitProvider } from '../../support/git/git-provider.ts'
import { createRepository } from '../../support/git/repository.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const suite = daemonSuite()

test('create rejects an invalid answer right after its question', async (t) => {
  const taken = 'quite-taken'
  await suite.api.post('/services', { name: taken, type: 'web_service' })
  const terminal = openFakeTerminal(t, ['create', '--no-deploy'], { daemon: suite.daemon })
  await terminal.shows('What is the service called?')
  terminal.type('My_App\r')
  await terminal.shows('lower-case letters')
  terminal.type(`${'\u007f'.repeat(6)}${taken}\r`)
  // Keys typed between two questions reach a terminal that is not raw, where Enter is another key.
  await terminal.shows(/quite-taken is in use: choose another name[\s\S]*What is the service called\?/)
  terminal.type('quite-free\r')
  await terminal.shows('Where does the source come from?')
  terminal.type('\u001b[B\r')
  await terminal.shows('What is its address?')
  terminal.type('shop.git\r')
  await terminal.shows('an address such as https://')
  terminal.type(`${'\u007f'.repeat(8)}https://example.com/shop.git\r`)

  assert.equal(await terminal.ended(), 0)
  assert.equal((await suite.api.get('/services/quite-free')).repo_url, 'https://example.com/shop.git')
  const named = openFakeTerminal(t, ['create', 'My_App'], { daemon: suite.daemon })
  assert.equal(await named.ended(), 2)
  await named.shows("'My_App' is not a valid name")
})

test('create proposes a disk for an image that keeps data, and warns without a terminal', async (t) => {
  const image = 'registry.invalid/postgres:15'
  const ask = async (name: string, answer: string) => {
    const args = ['create', name, '--image', image, '--no-deploy']
    const terminal = openFakeTerminal(t, args, { daemon: suite.daemon })
    await terminal.shows('keeps its data in /var/lib/postgresql/data')
    terminal.type(answer)
    assert.equal(await terminal.ended(), 0)
    return (await suite.api.get(`/services/${name}`)).disk_mount_path
  }
  assert.equal(await ask('kept-db', '\r'), '/var/lib/postgresql/data')
  assert.equal(await ask('lost-db', 'n'), null)

  const piped = await runBerth(t, ['create', 'piped-db', '--image', image, '--no-deploy'], suite)
  assert.equal(piped.code, 0)
  assert.match(piped.stderr, /keeps its data in .*: --disk \/var\/lib\/postgresql\/data gives that a disk/)
  const silent = ['create', 'none-db', '--image', image, '--no-deploy', '--disk', '']
  assert.doesNotMatch((await runBerth(t, silent, suite)).stderr, /keeps its data/)
})

test('create offers the repositories and branches of a connected account', async (t) => {
  const root = temporaryDirectory(t)
  mkdirSync(join(root, 'ada'))
  const repository = createRepository(t, { root: join(root, 'ada'), name: 'repo-2.git' })
  repository.commit('First', { file: 'one' })
  repository.branch('next')
  const provider = await createGitProvider(t, { root })
  const token = provider.createToken('ada')
  await suite.api.post('/git/connections', { provider: 'gitea', base_url: provider.url, token })

  const terminal = openFakeTerminal(t, ['create', 'shop', '--no-deploy'], { daemon: suite.daemon })
  await terminal.shows('Where does the source come from?')
  terminal.type('\u001b[B\r')
  await terminal.shows('Which repository?')
  await terminal.shows('ada/repo-0')
  terminal.type('repo-2')
  await terminal.shows('ada/repo-2')
  terminal.type('\r')
  await terminal.shows('Which branch?')
  terminal.type('next')
  await terminal.shows('next')
  terminal.type('\r')

  assert.equal(await terminal.ended(), 0)
  const { repo_url, branch } = await suite.api.get('/services/shop')
  assert.deepEqual([repo_url, branch], [`${provider.url}/ada/repo-2.git`, 'next'])
})
