// What is accepted as a repository, a branch and a commit, and the words for what is not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeOf, messageOf } from '../../src/errors.ts'
import {
  checkBranch,
  checkCommit,
  parseRepositoryUrl,
  resolveRepositoryUrl,
} from '../../src/git/repository.ts'

const noCredentials = { credentials: null }

function refusalOf(run: () => unknown): { code: string; message: string } {
  try {
    run()
  } catch (error) {
    return { code: codeOf(error), message: messageOf(error) }
  }
  throw new assert.AssertionError({ message: 'it was accepted' })
}

test('every accepted form of a repository is normalized for display', () => {
  const url = (text: string) => parseRepositoryUrl(text)

  assert.deepEqual(
    [
      url('  https://GitHub.com/acme/web.git/ '),
      url('http://127.0.0.1:3000/acme/web'),
      url('ssh://git@example.com:2222/acme/web.git'),
      url('git@example.com:acme/web.git'),
      url('/srv/git/web.git/'),
    ],
    [
      { url: 'https://github.com/acme/web.git', kind: 'https', host: 'github.com', ...noCredentials },
      { url: 'http://127.0.0.1:3000/acme/web', kind: 'http', host: '127.0.0.1:3000', ...noCredentials },
      {
        url: 'ssh://git@example.com:2222/acme/web.git',
        kind: 'ssh',
        host: 'example.com:2222',
        ...noCredentials,
      },
      { url: 'git@example.com:acme/web.git', kind: 'ssh', host: 'example.com', ...noCredentials },
      { url: '/srv/git/web.git', kind: 'path', host: null, ...noCredentials },
    ],
  )
})

const refusedUrls: [text: string, reason: RegExp][] = [
  ['', /is empty/],
  ['-oProxyCommand=touch /tmp/owned', /has a blank/],
  ['--upload-pack=/bin/sh', /starts with -/],
  ['ext::sh -c id', /has a blank/],
  ['ext::/bin/id', /has ::/],
  ['file:///etc/passwd', /starts with file:\/\//],
  ['git://example.com/web.git', /starts with git:\/\//],
  ['ftp://example.com/web.git', /starts with ftp:\/\//],
  ['../web', /must have one of these forms/],
  ['acme/web', /must have one of these forms/],
  ['/srv/../etc', /has \.\. in its path/],
  ['git@example.com:acme/../other/web', /has \.\. in its path/],
  ['git@example.com:acme/./web', /has a part \. in its path/],
  ['git@example.com:acme//web', /has an empty part in its path/],
  ['git@example.com:acme/%2e%2e/other/web', /has an encoded dot/],
  ['https://example.com/acme/../other/web', /has \.\. in its path/],
  ['https://example.com/acme/%2E./other/web', /has an encoded dot/],
  ['https://example.com//acme/web', /has an empty part in its path/],
  ['https://example.com/acme%2fother/web', /has an encoded dot, slash/],
  ['ssh://git@example.com/acme/..%5cother/web', /has an encoded dot, slash/],
  ['ssh://git@example.com/acme/../other/web', /has \.\. in its path/],
  ['/', /names no repository/],
  ['https://example.com', /names no repository/],
  ['https://example.com/web?x=1', /has a \? or a #/],
  ['https://example.com\\@evil.com/web', /has a backslash/],
  ['https://exa\nmple.com/web', /control character/],
  ['https:///web', /not a valid URL|invalid host|names no repository/],
  ['ssh://-oProxyCommand=x/web', /invalid host|not a valid URL/],
  ['ssh://-x@example.com/web', /invalid user name/],
  ['ssh://git:password@example.com/web', /ssh takes keys only/],
  ['git@-oProxyCommand=x:web', /invalid host/],
  ['git@h:web', /must have one of these forms/],
  ['git@example.com:-web', /starts with -/],
  ['-git@example.com:web', /starts with -/],
  ['https://$(id)/web', /invalid host|not a valid URL/],
  ['/srv/$(id)', /has a \$ in its path/],
  ["/srv/it's", /has a ' in its path/],
  ['git@example.com:web;id', /has a ; in its path/],
  ['ssh://git@example.com/a%60id%60', /has a ` in its path/],
]

for (const [text, reason] of refusedUrls) {
  test(`${JSON.stringify(text)} is refused as a repository`, () => {
    const { code, message } = refusalOf(() => parseRepositoryUrl(text))
    assert.equal(code, 'invalid_request')
    assert.match(message, reason)
  })
}

test('a refused repository URL is not shown, because it may contain a password', () => {
  const { message } = refusalOf(() => parseRepositoryUrl('ftp://user:hunter2hunter2@example.com/web'))

  assert.doesNotMatch(message, /hunter2/)
})

test('a relative address is resolved against the address of the parent', () => {
  const resolved = (parent: string, text: string) =>
    resolveRepositoryUrl(parseRepositoryUrl(parent), text).url

  assert.deepEqual(
    [
      resolved('https://user:secret@example.com/acme/web.git', '../lib.git'),
      resolved('https://example.com/acme/web.git', './lib'),
      resolved('http://example.com:3000/web', '../../../lib'),
      resolved('git@example.com:acme/web.git', '../lib.git'),
      resolved('ssh://git@example.com:2222/acme/web', '../lib'),
      resolved('/srv/web', '../lib'),
      resolved('https://example.com/acme/web.git', 'https://other.com/lib'),
    ],
    [
      'https://example.com/acme/lib.git',
      'https://example.com/acme/web.git/lib',
      'http://example.com:3000/lib',
      'git@example.com:acme/lib.git',
      'ssh://git@example.com:2222/acme/lib',
      '/srv/lib',
      'https://other.com/lib',
    ],
  )
})

test('branch names follow git’s own rules', () => {
  const accepted = ['main', 'feature/login', 'v1.2', 'über', 'a'.repeat(255), "it's;$(id)"]
  const refused = [
    '',
    '-f',
    '--upload-pack=x',
    'a b',
    'a\tb',
    'a\0b',
    'a..b',
    'a//b',
    '/a',
    'a/',
    '.a',
    'a/.b',
    'a.lock',
    'a.lock/b',
    'a.',
    '@',
    'a@{1}',
    'a~1',
    'a^',
    'a:b',
    'a?',
    'a*',
    'a[',
    'a\\b',
    'a'.repeat(256),
  ]

  assert.deepEqual(accepted.map(checkBranch), accepted)
  assert.deepEqual(
    refused.map((branch) => refusalOf(() => checkBranch(branch)).code),
    refused.map(() => 'invalid_request'),
  )
})

test('a commit is an id or a tag, as it was typed', () => {
  const accepted = [' 1A2b ', 'a'.repeat(64), 'a'.repeat(65), '12', 'DEADBEEF', 'V1.2', 'release/2']
  assert.deepEqual(
    accepted.map(checkCommit),
    accepted.map((text) => text.trim()),
  )
  const refused = ['', '-v1', 'v 1', 'v1..2', 'HEAD~1']
  assert.deepEqual(
    refused.map((text) => refusalOf(() => checkCommit(text)).code),
    refused.map(() => 'invalid_request'),
  )
})

test('an address relative to its parent hides no other owner', () => {
  const parent = parseRepositoryUrl('https://example.com/acme/web')
  for (const text of [
    '../lib/../../other/lib',
    '../%2e%2e/other/lib',
    './%2e%2e/lib',
    '../a//b',
    '.././../../a/./b',
  ]) {
    const refused = refusalOf(() => resolveRepositoryUrl(parent, text))
    assert.equal(refused.code, 'invalid_request', text)
  }
  assert.equal(resolveRepositoryUrl(parent, '../../other/lib').url, 'https://example.com/other/lib')
})
