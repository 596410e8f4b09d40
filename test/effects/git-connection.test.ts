// Which connection serves a repository.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findServing } from '../../src/effects/git-connection/repository-access.ts'
import { parseRepositoryUrl } from '../../src/git/repository.ts'
import type { RecordOf } from '../../storage/actors/actors.ts'

type Connection = RecordOf<'git-connection'>

const connectionOf = (fields: Partial<Connection>) =>
  ({
    id: 'git-1',
    provider: 'github',
    base_url: 'https://github.com',
    auth: 'token',
    account: 'ada',
    status: 'connected',
    updated_at: '2026-01-01T00:00:00.000Z',
    ...fields,
  }) as Connection
const servedBy = (connections: Connection[], url: string, readWith: string | null = null) => {
  const served = findServing(connections, parseRepositoryUrl(url), readWith)[0] ?? null
  return served && [served.connection.id, served.url]
}

test('a connection serves http addresses of its own scheme, host, port and path', () => {
  const connections = [connectionOf({ base_url: 'https://git.example.com:8443/gitea' })]
  const url = 'https://git.example.com:8443/gitea/ada/shop.git'
  assert.deepEqual(servedBy(connections, url), ['git-1', url])
  for (const other of [
    'http://git.example.com:8443/gitea/ada/shop.git',
    'https://git.example.com/gitea/ada/shop.git',
    'https://git.example.com:8443/other/ada/shop.git',
    'https://git.example.com:8443/gitea2/ada/shop.git',
    'https://git.example.com.evil.example:8443/gitea/ada/shop.git',
    '/srv/git/ada/shop.git',
  ]) {
    assert.equal(servedBy(connections, other), null, other)
  }
})

test('an ssh address is cloned over https', () => {
  const connections = [connectionOf({})]
  for (const [url, served] of [
    ['git@github.com:ada/shop.git', 'https://github.com/ada/shop.git'],
    ['ssh://git@github.com/Ada/shop.git', 'https://github.com/Ada/shop.git'],
    ['git@github.com:acme/shop.git', 'https://github.com/acme/shop.git'],
  ])
    assert.deepEqual(servedBy(connections, url!), ['git-1', served])
  for (const url of [
    'ada@github.com:ada/shop.git',
    'ssh://git@github.com:2222/ada/shop.git',
    'git@gitlab.com:ada/shop.git',
  ]) {
    assert.equal(servedBy(connections, url), null, url)
  }
  const otherPort = [connectionOf({ base_url: 'http://git.lan:3000' })]
  assert.equal(servedBy(otherPort, 'git@git.lan:ada/shop.git'), null)
})

test('the longest path prefix wins, and no encoded path leads out of it', () => {
  const root = connectionOf({
    id: 'git-1',
    base_url: 'https://git.lan',
    updated_at: '2027-01-01T00:00:00.000Z',
  })
  const below = connectionOf({ id: 'git-2', base_url: 'https://git.lan/gitea' })
  assert.equal(servedBy([root, below], 'https://git.lan/gitea/ada/shop.git')?.[0], 'git-2')
  assert.throws(() => servedBy([below], 'https://git.lan/gitea/..%2fother/shop.git'), {
    code: 'invalid_request',
  })
})

test("the owner's connection comes first, then the newest, and usable ones before invalid ones", () => {
  const grace = connectionOf({ id: 'git-2', account: 'grace', updated_at: '2026-02-01T00:00:00.000Z' })
  const ada = connectionOf({})
  const url = 'https://github.com/Ada/shop.git'
  assert.equal(servedBy([grace, ada], url)?.[0], 'git-1')
  assert.equal(servedBy([ada, grace], 'https://github.com/acme/shop.git')?.[0], 'git-2')
  assert.equal(servedBy([grace, connectionOf({ status: 'invalid' })], url)?.[0], 'git-2')
  assert.equal(servedBy([connectionOf({ status: 'invalid' })], url)?.[0], 'git-1')
  assert.equal(servedBy([connectionOf({ status: 'pending' })], url), null)
  assert.equal(servedBy([grace, ada], 'https://github.com/acme/shop.git', 'git-1')?.[0], 'git-1')
  const invalid = connectionOf({ status: 'invalid' })
  assert.equal(servedBy([grace, invalid], 'https://github.com/acme/shop.git', 'git-1')?.[0], 'git-2')
})

test('an app serves the repositories of its own account only', () => {
  const app = connectionOf({ auth: 'github_app' })
  assert.equal(servedBy([app], 'https://github.com/ada/shop.git')?.[0], 'git-1')
  assert.equal(servedBy([app], 'https://github.com/acme/shop.git'), null)
})
