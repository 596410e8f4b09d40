// `berth create` at a terminal, with a connected account: its repositories and branches are offered.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openFakeTerminal } from '../../support/cli/fake-terminal.ts'
import { daemonSuite } from '../../support/daemon/suite.ts'
import { createGitProvider } from '../../support/git/git-provider.ts'
import { createRepository } from '../../support/git/repository.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const suite = daemonSuite()

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
