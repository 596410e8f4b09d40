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

test('create asks for the name and the source, and the server rejects an invalid answer', async (t) => {
  const answers = async (name: string) => {
    const terminal = openFakeTerminal(t, ['create', '--no-deploy'], { daemon: suite.daemon })
    await terminal.shows('What is the service called?')
    terminal.type(`${name}\r`)
    await terminal.shows('Where does the source come from?')
    terminal.type('\u001b[B\r')
    await terminal.shows('What is its address?')
    terminal.type('https://example.com/shop.git\r')
    return terminal
  }
  const terminal = await answers('quite-free')
  assert.equal(await terminal.ended(), 0)
  assert.equal((await suite.api.get('/services/quite-free')).repo_url, 'https://example.com/shop.git')

  const refused = await answers('My_App')
  assert.equal(await refused.ended(), 1)
  await refused.shows(/name: .*lower-case/)
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
