// Where a token goes and where it never goes, seen from the servers and from the process table.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { codeOf, messageOf } from '../../src/errors.ts'
import { createMask } from '../../src/git/credentials.ts'
import { parseRepositoryUrl } from '../../src/git/repository.ts'
import { readTree, startCheckout } from '../support/git/checkout.ts'
import { gitProcesses, untilGitProcesses } from '../support/git/git-processes.ts'
import { createGitServer } from '../support/git/git-server.ts'
import { createRepository } from '../support/git/repository.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const credentials = { username: 'x-access-token', password: 's3cr3t-%$\'"tok`en' }
const basic = `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`

function createApp(t: TestContext) {
  const repository = createRepository(t)
  repository.commit('First', { file: 'private' })
  return repository
}

test('a private repository is checked out with its credentials', async (t) => {
  const { url } = await createGitServer(t, { ...createApp(t), credentials })

  const { directory, done } = startCheckout(t, { url: `${url}/app`, credentials })

  await done
  assert.deepEqual(readTree(directory), { file: 'private' })
})

test('without credentials a private repository is reported with the remedy', async (t) => {
  const { url } = await createGitServer(t, { ...createApp(t), credentials })

  await assert.rejects(startCheckout(t, { url: `${url}/app` }).done, {
    code: 'git_remote_unreachable',
    message:
      `cannot read ${url}/app: it requires a user name and a password; ` +
      'if it is private, connect its account (berth git connect), or add user:token@ to its URL',
  })
})

test('wrong credentials are reported as rejected and not shown', async (t) => {
  const { url } = await createGitServer(t, { ...createApp(t), credentials })

  const wrong = { username: 'deploy', password: 'not-the-one' }
  await assert.rejects(startCheckout(t, { url: `${url}/app`, credentials: wrong }).done, {
    code: 'git_remote_unreachable',
    message:
      `cannot read ${url}/app: it refused the user name or the password; ` +
      'its user name and token may be wrong, expired or not allowed to read it',
  })
})

test('credentials appear in no argument of any git process', async (t) => {
  const answer = ({ method }: { method: string }) => (method === 'POST' ? 'hang' : 'serve')
  const { url } = await createGitServer(t, { ...createApp(t), credentials, answer })
  const abort = new AbortController()

  const { done } = startCheckout(t, {
    url: `${url}/app`,
    credentials,
    signal: abort.signal,
    marker: 'dep-argv',
  })
  const ended = assert.rejects(done, { name: 'AbortError' })
  const commands = await untilGitProcesses('dep-argv', (found) =>
    found.some((line) => line.includes('remote-http')),
  )
  abort.abort()
  await ended

  assert.doesNotMatch(commands.join('\n'), /s3cr3t|x-access-token/)
  assert.deepEqual(gitProcesses('dep-argv'), [])
})

test('a redirect on the same host is followed with the credentials', async (t) => {
  const { url } = await createGitServer(t, {
    ...createApp(t),
    credentials,
    answer: ({ path }) => (path.startsWith('/old/') ? { redirect: path.replace('/old/', '/app/') } : 'serve'),
  })

  const { directory, done } = startCheckout(t, { url: `${url}/old`, credentials })

  await done
  assert.deepEqual(readTree(directory), { file: 'private' })
})

/**
 * A host that demands the credentials, or does not, before it sends git to a stranger that would take them.
 */
async function checkoutByStranger(t: TestContext, demanded: boolean, strangerDemands: boolean) {
  const app = createApp(t)
  const foreign = await createGitServer(t, { ...app, ...(strangerDemands ? { credentials } : {}) })
  const host = await createGitServer(t, {
    ...app,
    ...(demanded ? { credentials } : {}),
    answer: ({ authorization, path }) => {
      if (demanded && authorization === null) return 'serve'
      return { redirect: foreign.url.replace('127.0.0.1', 'localhost') + path }
    },
  })
  const done = startCheckout(t, { url: `${host.url}/app`, credentials }).done
  await done.catch(() => {})
  return { done, seen: foreign.requests.map(({ authorization }) => authorization) }
}

for (const demanded of [true, false]) {
  const when = demanded ? 'after they were demanded' : 'without a request'

  test(`a redirect to another host carries no credentials ${when}`, async (t) => {
    const { seen } = await checkoutByStranger(t, demanded, false)

    assert.equal(seen.length > 0, true)
    assert.deepEqual(new Set(seen), new Set([null]))
  })

  test(`another host that requests credentials gets none ${when}`, async (t) => {
    const { done, seen } = await checkoutByStranger(t, demanded, true)

    await assert.rejects(done, { code: 'git_remote_unreachable' })
    assert.deepEqual(new Set(seen), new Set([null]))
  })
}

test('a public repository that moved to another host is checked out from there', async (t) => {
  const { done } = await checkoutByStranger(t, false, false)

  assert.equal((await done).commitMessage, 'First')
})

test('the home directory’s own passwords are not used', async (t) => {
  const { url, requests } = await createGitServer(t, { ...createApp(t), credentials })
  const home = temporaryDirectory(t)
  writeFileSync(join(home, '.netrc'), 'machine 127.0.0.1 login root password toor\n')
  writeFileSync(join(home, '.gitconfig'), '[http]\n\textraHeader = Authorization: Basic cm9vdDp0b29y\n')
  const { HOME } = process.env
  process.env.HOME = home
  t.after(() => {
    process.env.HOME = HOME
  })

  await assert.rejects(startCheckout(t, { url: `${url}/app` }).done, { code: 'git_remote_unreachable' })

  assert.deepEqual(new Set(requests.map(({ authorization }) => authorization)), new Set([null]))
})

test('credentials echoed by a remote are masked in the error', async (t) => {
  const text = `${credentials.password} and ${basic} are not welcome\n`
  const { url } = await createGitServer(t, {
    ...createApp(t),
    credentials,
    answer: () => ({ status: 403, text }),
  })

  await assert.rejects(startCheckout(t, { url: `${url}/app`, credentials }).done, (error) => {
    assert.match(messageOf(error), /\*\*\* and Basic \*\*\* are not welcome/)
    assert.doesNotMatch(messageOf(error), /s3cr3t/)
    return true
  })
})

test('every spelling of a secret is masked, and credentials of any URL too', () => {
  const { password } = credentials
  const text = `${password} ${encodeURIComponent(password)} ${basic} https://a:b@example.com/x`

  assert.equal(createMask(credentials)(text), '*** *** Basic *** https://***@example.com/x')
})

test('credentials with a line break are refused before git sees them', async (t) => {
  const forged = { username: 'a', password: 'b\nhost=evil.example.com' }

  await assert.rejects(startCheckout(t, { url: 'https://example.com/app', credentials: forged }).done, {
    code: 'invalid_request',
    message: 'the user name or password of the repository has a control character',
  })
})

// User names and passwords as people paste them into a repository's address: what arrives at the remote is
// what was meant, or the address is refused before git sees it.

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
