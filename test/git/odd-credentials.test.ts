// User names and passwords as people paste them into a repository's address: what arrives at the remote is
// what was meant, or the address is refused before git sees it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { codeOf, messageOf } from '../../src/errors.ts'
import { parseRepositoryUrl } from '../../src/git/repository.ts'
import { startCheckout } from '../support/git/checkout.ts'
import { createGitServer } from '../support/git/git-server.ts'
import { createRepository } from '../support/git/repository.ts'

const unusual: [typed: string, username: string, password: string][] = [
  ['user:p%40ss:x', 'user', 'p@ss:x'],
  ['user:a%2Fb%3Fc%23d', 'user', 'a/b?c#d'],
  ['token', 'token', ''],
  ['user:', 'user', ''],
  ['über:pässwörd', 'über', 'pässwörd'],
  ['user:%F0%9F%9A%A2', 'user', '🚢'],
  ["user:$(id)`id`'%22;&|", 'user', '$(id)`id`\'";&|'],
  ['user:%25zz', 'user', '%zz'],
  ['user:a%20b', 'user', 'a b'],
  ['-u:--password', '-u', '--password'],
  ['user:%5Cn', 'user', '\\n'],
]

for (const [typed, username, password] of unusual) {
  test(`${typed}@ reaches the remote as ${JSON.stringify([username, password])}`, async (t) => {
    const repository = createRepository(t)
    repository.commit('First', { file: 'private' })
    const { url, requests } = await createGitServer(t, { ...repository, credentials: { username, password } })

    const { done, lines } = startCheckout(t, { url: `${url.replace('//', `//${typed}@`)}/app` })

    assert.equal((await done).commitMessage, 'First')
    const basic = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
    assert.equal(requests.at(-1)?.authorization, basic)
    assert.equal(lines[0], `cloning ${url}/app branch main`)
  })
}

const refused: [typed: string, reason: RegExp][] = [
  ['user:a%0Ab', /has a control character/],
  ['user:a%0D%0Ahost=evil', /has a control character/],
  ['user:a%00b', /has a control character/],
  ['us%3Aer:secret', /has a colon/],
  [':secret', /password without a user name: put one before it/],
  ['user:%zz', /broken % escape/],
  ['user:%ff', /broken % escape/],
  ['user:a\nb', /blank or a control character/],
  ['user:a b', /blank or a control character/],
  ['user:a\\b', /has a backslash/],
]

for (const [typed, reason] of refused) {
  test(`${JSON.stringify(typed)} before the host is refused without being repeated`, () => {
    const refusal = (() => {
      try {
        return parseRepositoryUrl(`https://${typed}@example.com/app`)
      } catch (error) {
        return error
      }
    })()
    assert.equal(codeOf(refusal), 'invalid_request')
    assert.match(messageOf(refusal), reason)
    assert.doesNotMatch(messageOf(refusal), /secret|evil/)
  })
}

test('all other credentials are read from an address unchanged', () => {
  const texts = fc.string({ unit: 'grapheme', maxLength: 40 }).filter((text) => !/\p{Cc}/u.test(text))
  const names = texts.filter((text) => text !== '' && !text.includes(':'))
  fc.assert(
    fc.property(names, texts, (username, password) => {
      const typed = `${encodeURIComponent(username)}:${encodeURIComponent(password)}`
      const { url, credentials } = parseRepositoryUrl(`https://${typed}@example.com/app`)
      assert.deepEqual(
        { url, credentials },
        { url: 'https://example.com/app', credentials: { username, password } },
      )
    }),
  )
})
