// The environment of a git process, and what of the daemon's own environment it never sees.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { readingEnvironment, remoteEnvironment } from '../../src/git/environment.ts'
import { parseRepositoryUrl } from '../../src/git/repository.ts'

/** Exactly these variables, until the test is over. */
function setEnvironment(t: TestContext, variables: Record<string, string>): void {
  const before = process.env
  process.env = { ...variables }
  t.after(() => {
    process.env = before
  })
}

const urls = ['https://example.com/web', 'http://example.com/web', 'git@example.com:web', '/srv/web']
const environmentOf = (url: string) =>
  remoteEnvironment(parseRepositoryUrl(url), null, { marker: 'dep-1', pinned: null, ssh: null })

test('of the daemon’s environment only the path, proxies and certificates reach git', (t) => {
  const proxies = { HTTPS_PROXY: 'http://proxy:3128', no_proxy: 'localhost' }
  const strange = {
    GIT_DIR: '/x',
    GIT_SSL_NO_VERIFY: '1',
    LD_PRELOAD: '/x.so',
    BERTH_SECRET: 'x',
    HOME: '/root',
  }
  setEnvironment(t, { PATH: '/bin', SSL_CERT_FILE: '/ca.pem', ...proxies, ...strange })

  const names = Object.keys(environmentOf('https://example.com/web'))

  assert.deepEqual(names.filter((name) => !/^GIT_CONFIG_(KEY|VALUE)_/.test(name)).sort(), [
    'BERTH_GIT_MARKER',
    'GIT_ALLOW_PROTOCOL',
    'GIT_ATTR_NOSYSTEM',
    'GIT_CONFIG_COUNT',
    'GIT_CONFIG_GLOBAL',
    'GIT_CONFIG_NOSYSTEM',
    'GIT_SSL_CAINFO',
    'GIT_TERMINAL_PROMPT',
    'HOME',
    'HTTPS_PROXY',
    'LC_ALL',
    'PATH',
    'no_proxy',
  ])
})

test('git uses only the protocol of its repository, and none for local reads', () => {
  const allowed = [...urls.map(environmentOf), readingEnvironment('dep-1')].map(
    (env) => env.GIT_ALLOW_PROTOCOL,
  )

  assert.deepEqual(allowed, ['https', 'http', 'ssh', 'file', ''])
})

test('only ssh knows the home directory', (t) => {
  setEnvironment(t, { HOME: '/home/berth' })

  const homes = urls.map((url) => environmentOf(url).HOME)

  assert.deepEqual(homes, ['/dev/null', '/dev/null', '/home/berth', '/dev/null'])
})
