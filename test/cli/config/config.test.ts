// Server addresses as users type them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unreachable } from '../../../src/cli/client/client.ts'
import { defaultUrl, findServer, isServerUrl, parseServerUrl } from '../../../src/cli/config/config.ts'
import { chooseServer } from '../../../src/cli/config/server-choice.ts'

test('an address without a scheme uses http on this host only, and https everywhere else', () => {
  const addresses = {
    '127.0.0.1:7988': 'http://127.0.0.1:7988',
    'localhost:7988': 'http://localhost:7988',
    '[::1]:7988': 'http://[::1]:7988',
    localhost: 'http://localhost:7878',
    '10.0.0.5:7878': 'https://10.0.0.5:7878',
    'berth.example.com': 'https://berth.example.com',
    'berth.example.com:8443/sub/': 'https://berth.example.com:8443/sub',
    'localhost.example.com': 'https://localhost.example.com',
    '127.0.0.1.example.com:80': 'https://127.0.0.1.example.com:80',
    'http://10.0.0.5:7878/': 'http://10.0.0.5:7878',
  }
  for (const [typed, url] of Object.entries(addresses)) assert.equal(parseServerUrl(typed), url, typed)
})

test('a word, another scheme and a password are not valid addresses', () => {
  for (const typed of ['production', 'ftp://example.com', 'http://', 'ada:pass@example.com', 'a b', '']) {
    assert.throws(() => parseServerUrl(typed), { exitCode: 2 }, typed)
  }
})

test('a server is found by its name, and by its address with or without the scheme', () => {
  const servers = { 'prod.eu': { url: 'http://127.0.0.1:7988', token: 'x' } }
  const config = { default: undefined, servers }
  for (const wanted of ['prod.eu', '127.0.0.1:7988', 'http://127.0.0.1:7988']) {
    assert.equal(findServer(config, wanted)?.name, 'prod.eu', wanted)
  }
  assert.deepEqual([isServerUrl('prod.eu'), isServerUrl('prod.eu:80')], [false, true])
})

test('before the first login, a server that does not respond is one to log in to', () => {
  const hintFor = (flags: { server?: string }, env: NodeJS.ProcessEnv, servers = {}) => {
    const config = { default: undefined, servers }
    const place = { env, cwd: '/', stdin: process.stdin }
    const { url, isAssumed } = chooseServer({ ...place, flags, findProject: () => null, config })
    return unreachable(url, new Error('nothing listens'), isAssumed).hint
  }
  const other = 'is berthd running there? for another server: --server NAME or URL'
  const known = { home: { url: defaultUrl, token: 'x' } }
  assert.equal(hintFor({}, {}), 'log in to your server first: berth login URL')
  assert.equal(hintFor({ server: defaultUrl }, {}), other)
  assert.equal(hintFor({}, { BERTH_SERVER: defaultUrl }), other)
  assert.equal(hintFor({}, {}, known), other)
})
