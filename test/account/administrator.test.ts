// Setup, sign-in and another password: in which order they are checked, what each costs, and what becomes of
// those that meet.
import { deepEqual, equal, rejects, throws } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Administrator } from '../../src/account/administrator.ts'
import { createAttempts } from '../../src/account/attempts.ts'
import { createPasswords, dummyHash } from '../../src/account/passwords.ts'
import { codeOf } from '../../src/errors.ts'
import { countingHasher, plainHash } from '../support/http/counting-hasher.ts'
import { temporaryStorage } from '../support/supervisor/supervision.ts'

const ada = { email: 'ada@example.com', password: 'correct horse battery' }
const eve = { email: 'eve@example.com', password: 'let me in please' }
const wrong = { ...ada, password: 'a wild guess' }

async function start(t: TestContext, hasher = countingHasher()) {
  const storage = await temporaryStorage(t)
  const attempts = createAttempts(storage.attempts)
  const administrator = new Administrator({ storage, attempts, passwords: createPasswords(hasher) })
  const code = storage.setupCode.ensure()
  const setUp = () => administrator.setUp(ada, undefined)
  const failures = () => storage.attempts.list('sign_in').length
  return { storage, administrator, attempts, hasher, code, setUp, failures }
}

/** What the requests came to: a code for each, null for a success. */
async function outcomes(requests: Promise<unknown>[]): Promise<(string | null)[]> {
  const settled = await Promise.allSettled(requests)
  return settled.map((outcome) => (outcome.status === 'fulfilled' ? null : codeOf(outcome.reason)))
}

const countOf = (list: unknown[], wanted: unknown) => list.filter((one) => one === wanted).length

test('setup creates the account, signs in and removes the code', async (t) => {
  const { administrator, storage, code } = await start(t)
  administrator.assertSetupCode(`  ${code}\n`)

  const { account, session, secret } = await administrator.setUp(ada, 'Firefox')

  deepEqual([account.email, account.password_hash], [ada.email, plainHash(ada.password)])
  deepEqual(administrator.get(), account)
  deepEqual(storage.sessions.bySecret(secret), session)
  deepEqual([session.user_agent, session.last_used_at], ['Firefox', session.created_at])
  equal(storage.setupCode.read(), null)
})

test('of fifty concurrent setups one creates the account, and one password is hashed', async (t) => {
  const { setUp, hasher, storage } = await start(t)

  const came = await outcomes(Array.from({ length: 50 }, setUp))

  deepEqual([countOf(came, null), countOf(came, 'already_set_up')], [1, 49])
  equal(hasher.hashed.length, 1)
  equal(storage.sessions.list().length, 1)
})

test('a failed setup does not block the next one', async (t) => {
  let isBroken = true
  const pause = async () => {
    if (isBroken) throw new Error('no memory')
  }
  const { setUp, code, storage } = await start(t, countingHasher({ pause }))
  await rejects(setUp(), { message: 'no memory' })
  equal(storage.setupCode.read(), code)

  isBroken = false
  equal((await setUp()).account.email, ada.email)
})

test('wrong setup codes never keep the right one from working', async (t) => {
  const { administrator, setUp, code } = await start(t)
  const check = (value: string) => administrator.assertSetupCode(value)

  for (let count = 0; count < 50; count++) throws(() => check('guess'), { code: 'invalid_setup_code' })
  check(code)
  await setUp()

  for (const value of [code, 'guess']) throws(() => check(value), { code: 'already_set_up' })
})

test('without a code on disk every setup is refused, even with an empty code', async (t) => {
  const { administrator, storage } = await start(t)
  storage.setupCode.remove()

  for (const code of ['', ' ', 'guess']) {
    throws(() => administrator.assertSetupCode(code), { code: 'invalid_setup_code' })
  }
})

test('an unknown e-mail takes exactly one hash, like a wrong password, with the same message', async (t) => {
  const { administrator, setUp, hasher } = await start(t)
  await setUp()
  const expected = { code: 'invalid_credentials', message: 'the e-mail or the password is wrong' }

  await rejects(administrator.signIn(wrong, undefined), expected)
  await rejects(administrator.signIn(eve, undefined), expected)
  await rejects(administrator.signIn({ ...eve, password: ada.password }, undefined), expected)

  deepEqual(hasher.verified, [plainHash(ada.password), dummyHash, dummyHash])
})

test('before setup every sign-in is refused without hashing', async (t) => {
  const { administrator, hasher, failures } = await start(t)

  await rejects(administrator.signIn(ada, undefined), { code: 'conflict' })

  deepEqual([hasher.verified.length, failures()], [0, 0])
})

test('after ten failures the correct password is refused without hashing', async (t) => {
  const { administrator, setUp, hasher, failures } = await start(t)
  await setUp()
  await outcomes(Array.from({ length: 10 }, () => administrator.signIn(wrong, undefined)))

  await rejects(administrator.signIn(ada, undefined), { code: 'too_many_attempts' })

  deepEqual([hasher.verified.length, failures()], [10, 10])
})

const renewal = { current: ada.password, next: 'another battery', revokeTokens: false }

test('a new password ends every session except the one that changed it', async (t) => {
  const { administrator, setUp, storage } = await start(t)
  const mine = await setUp()
  for (let count = 0; count < 3; count++) await administrator.signIn(ada, undefined)

  await administrator.changePassword(mine.session.id, renewal)

  deepEqual(storage.sessions.list(), [mine.session])
  await rejects(administrator.signIn(ada, undefined), { code: 'invalid_credentials' })
  await administrator.signIn({ ...ada, password: 'another battery' }, undefined)
})

test('a wrong current password changes nothing and has a separate limit', async (t) => {
  const { administrator, setUp, storage, failures } = await start(t)
  const { session } = await setUp()
  const change = () => administrator.changePassword(session.id, { ...renewal, current: 'a wild guess' })

  const came = await outcomes(Array.from({ length: 20 }, change))

  deepEqual([countOf(came, 'invalid_credentials'), countOf(came, 'too_many_attempts')], [10, 10])
  equal(administrator.get()?.password_hash, plainHash(ada.password))
  deepEqual([failures(), storage.attempts.list('current_password').length], [0, 10])
  await administrator.signIn(ada, undefined)
})

test('a sign-in with a password that is replaced during hashing is refused', async (t) => {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  let hashing = 0
  // The setup goes through; the sign-in waits.
  const { administrator, setUp, storage } = await start(
    t,
    countingHasher({ pause: async () => void (++hashing === 2 && (await held)) }),
  )
  const { session } = await setUp()

  const signingIn = outcomes([administrator.signIn(ada, undefined)])
  while (hashing < 2) await new Promise((resolve) => setImmediate(resolve))
  await administrator.changePassword(session.id, renewal)
  release()

  deepEqual(await signingIn, ['invalid_credentials'])
  deepEqual(storage.sessions.list(), [session])
})

test('a session that ends while its new password is hashed does not change the password', async (t) => {
  const { administrator, setUp, storage, hasher } = await start(t)
  const { session } = await setUp()
  const { session: other } = await administrator.signIn(ada, undefined)

  const changing = outcomes([administrator.changePassword(other.id, renewal)])
  while (!hasher.hashed.includes('another battery')) await new Promise((resolve) => setImmediate(resolve))
  await storage.sessions.remove(other.id)

  deepEqual(await changing, ['unauthorized'])
  deepEqual(storage.sessions.list(), [session])
  await administrator.signIn(ada, undefined)
})

test('of two concurrent password changes one succeeds', async (t) => {
  const { administrator, setUp } = await start(t)
  const { session } = await setUp()
  const change = (next: string) => administrator.changePassword(session.id, { ...renewal, next })

  const came = await outcomes(['one of them', 'the other'].map(change))

  deepEqual([countOf(came, null), countOf(came, 'invalid_credentials')], [1, 1])
  equal(administrator.get()?.password_hash, plainHash(came[0] === null ? 'one of them' : 'the other'))
})

test('a browser’s name is truncated to 300 characters, never within a character', async (t) => {
  const { administrator, setUp } = await start(t)
  await setUp()
  const nameOf = async (sent?: string) => (await administrator.signIn(ada, sent)).session.user_agent

  deepEqual([await nameOf(), await nameOf(''), await nameOf('curl')], [null, null, 'curl'])
  equal(await nameOf('x'.repeat(300)), 'x'.repeat(300))
  equal(await nameOf('x'.repeat(301)), 'x'.repeat(300))
  equal(await nameOf(`${'x'.repeat(299)}🙂🙂`), `${'x'.repeat(299)}🙂`)
})
