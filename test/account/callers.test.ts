// Who asks: which secret stands for whom, for how long, and how often that is written down.
import { deepEqual, equal } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createCallers, serverCaller, sessionLifetimeMs } from '../../src/account/callers.ts'
import type { SessionRow, TokenRow } from '../../storage/access/hashed-tokens.ts'
import { temporaryStorage } from '../support/supervisor/supervision.ts'

const startMs = Date.parse('2026-01-01T00:00:00.000Z')
const dayMs = 24 * 60 * 60_000
const iso = (ms: number) => new Date(ms).toISOString()

const session: SessionRow = {
  id: 'ses-1',
  created_at: iso(startMs),
  last_used_at: iso(startMs),
  user_agent: null,
}
const all = { role: 'admin', services: null } as const
const token: TokenRow = {
  ...all,
  id: 'tok-1',
  name: 'ci',
  hint: 'en-1',
  created_at: iso(startMs),
  expires_at: iso(startMs + dayMs),
  last_used_at: null,
}
const asSession = { kind: 'session', id: 'ses-1', ...all } as const
const asToken = { kind: 'token', id: 'tok-1', ...all } as const

async function start(t: TestContext) {
  const storage = await temporaryStorage(t)
  const { sessions, tokens, commit, serverToken } = storage
  await commit((commit) => {
    sessions.insert(commit, 'bths_ses-1', session)
    tokens.insert(commit, 'bth_token-1', token)
  })
  const clock = { ms: startMs }
  const touched: string[] = []
  let writing: Promise<void> = Promise.resolve()
  const noting = <Rows extends typeof sessions | typeof tokens>(rows: Rows): Rows => ({
    ...rows,
    touch(id: string, at: string) {
      touched.push(`${id} ${at}`)
      const noted = rows.touch(id, at)
      writing = noted
      return noted
    },
  })
  const parts = { serverToken, sessions: noting(sessions), tokens: noting(tokens) }
  const callers = createCallers(parts, () => clock.ms)
  /** Waits until the last use is on disk and its writer knows. */
  const noted = async () => {
    await writing
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { storage, callers, clock, touched, noted }
}

test('a secret identifies only its own session or token', async (t) => {
  const { callers, storage } = await start(t)

  deepEqual(callers.bySession('bths_ses-1'), asSession)
  deepEqual(callers.byToken('bth_token-1'), asToken)
  deepEqual(callers.byToken(storage.serverToken), serverCaller)
  for (const wrong of ['bths_ses-1', 'bth_token-2', 'tok-1', 'server', '']) {
    equal(callers.byToken(wrong), null, wrong)
  }
  for (const wrong of ['bth_token-1', storage.serverToken, 'ses-1', '']) {
    equal(callers.bySession(wrong), null, wrong)
  }
})

test('a missing secret does not match a server without a token', async (t) => {
  const { sessions, tokens } = await temporaryStorage(t)

  equal(createCallers({ serverToken: '', sessions, tokens }).byToken(''), null)
})

test('a token expires at its expiry time; without one it never expires', async (t) => {
  const { callers, clock, storage } = await start(t)
  await storage.commit((commit) =>
    storage.tokens.insert(commit, 'bth_ever', { ...token, id: 'tok-2', expires_at: null }),
  )

  clock.ms = startMs + dayMs - 1
  deepEqual([callers.byToken('bth_token-1'), callers.isValid(asToken)], [asToken, true])
  clock.ms = startMs + dayMs

  deepEqual([callers.byToken('bth_token-1'), callers.isValid(asToken)], [null, false])
  clock.ms = startMs + 100_000 * dayMs
  deepEqual(callers.byToken('bth_ever'), { ...asToken, id: 'tok-2' })
  deepEqual([callers.byToken(storage.serverToken), callers.isValid(serverCaller)], [serverCaller, true])
})

test('a session ends thirty days after its last use', async (t) => {
  const { callers, clock } = await start(t)
  equal(sessionLifetimeMs, 30 * dayMs)

  clock.ms = startMs + 30 * dayMs - 1
  equal(callers.isValid(asSession), true)
  clock.ms = startMs + 30 * dayMs

  deepEqual([callers.bySession('bths_ses-1'), callers.isValid(asSession)], [null, false])
})

test('a use is stored at most once a minute', async (t) => {
  const { callers, clock, noted, touched } = await start(t)

  for (const ms of [0, 1, 30_000, 59_999]) {
    clock.ms = startMs + ms
    callers.bySession('bths_ses-1')
  }
  deepEqual(touched, [])
  clock.ms = startMs + 60_000
  for (let times = 0; times < 50; times++) callers.bySession('bths_ses-1')
  await noted()
  callers.bySession('bths_ses-1')

  deepEqual(touched, [`ses-1 ${iso(startMs + 60_000)}`])
})

test('the first use of a token is stored immediately, the next after a minute', async (t) => {
  const { callers, clock, touched, noted } = await start(t)

  callers.byToken('bth_token-1')
  await noted()
  clock.ms = startMs + 59_999
  callers.byToken('bth_token-1')
  clock.ms = startMs + 60_000
  callers.byToken('bth_token-1')
  await noted()

  deepEqual(touched, [`tok-1 ${iso(startMs)}`, `tok-1 ${iso(startMs + 60_000)}`])
})

test('a removed credential stops working immediately, and a late use does not restore it', async (t) => {
  const { callers, clock, storage } = await start(t)
  clock.ms = startMs + 60_000
  callers.bySession('bths_ses-1')
  callers.byToken('bth_token-1')

  await storage.sessions.remove('ses-1')
  await storage.tokens.remove('tok-1')

  deepEqual([callers.bySession('bths_ses-1'), callers.byToken('bth_token-1')], [null, null])
  deepEqual([callers.isValid(asSession), callers.isValid(asToken)], [false, false])
  deepEqual([storage.sessions.list(), storage.tokens.list()], [[], []])
})

test('a failing disk signs nobody out', async (t) => {
  const { sessions, tokens, serverToken, commit } = await temporaryStorage(t)
  await commit((commit) => sessions.insert(commit, 'bths_ses-1', session))
  const full = { ...sessions, touch: () => Promise.reject(new Error('the disk is full')) }
  const callers = createCallers({ serverToken, tokens, sessions: full }, () => startMs + dayMs)

  for (let times = 0; times < 3; times++) {
    deepEqual(callers.bySession('bths_ses-1'), asSession)
    await new Promise((resolve) => setImmediate(resolve))
  }
})
