// The limit on failed attempts: ten in five minutes, exact to the millisecond, with concurrent clients,
// restarts of the daemon and changes of its clock.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Attempts, attemptWindowMs, createAttempts } from '../../src/account/attempts.ts'
import { codeOf, type RetryLater } from '../../src/errors.ts'
import type { AttemptRow, GuessTarget, StoredAttempts } from '../../storage/access/attempts.ts'
import { temporaryStorage } from '../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const startMs = Date.parse('2026-01-01T00:00:00.000Z')
const hourMs = 60 * 60_000
const right = async () => true
const wrong = async () => false

async function start(t: TestContext, directory?: string) {
  const storage = await temporaryStorage(t, directory)
  const clock = { ms: startMs }
  const attempts = createAttempts(storage.attempts, () => clock.ms)
  const fail = async (count: number, guessed: GuessTarget = 'sign_in') => {
    for (let attempt = 0; attempt < count; attempt++) await attempts.guess(guessed, wrong)
  }
  return { storage, clock, attempts, fail, wait: () => waitOf(attempts) }
}

/** The seconds until the next attempt; 0 if it is allowed. */
async function waitOf(attempts: Attempts): Promise<number> {
  try {
    await attempts.guess('sign_in', right)
    return 0
  } catch (error) {
    equal(codeOf(error), 'too_many_attempts')
    return (error as RetryLater).retryAfterSeconds
  }
}

test('ten attempts may fail, and the eleventh is refused', async (t) => {
  const { attempts, fail, wait } = await start(t)

  await fail(9)
  equal(await wait(), 0)
  await fail(1)

  equal(await wait(), 300)
  await rejects(attempts.guess('sign_in', wrong), { code: 'too_many_attempts' })
})

test('the wait ends when the oldest attempt is five minutes old', async (t) => {
  const { clock, fail, wait, attempts } = await start(t)
  await fail(1)
  clock.ms = startMs + 60_000
  await fail(9)

  const waits: number[] = []
  for (const ms of [60_000, 60_001, 299_000, 299_001, 299_999, 300_000]) {
    clock.ms = startMs + ms
    waits.push(await wait())
  }

  deepEqual(waits, [240, 240, 1, 1, 1, 0])
  await attempts.guess('sign_in', wrong)
  equal(await wait(), 60)
})

test('refused attempts do not extend the wait', async (t) => {
  const { clock, fail, wait, attempts } = await start(t)
  await fail(10)

  clock.ms = startMs + 200_000
  for (let count = 0; count < 20; count++) await rejects(attempts.guess('sign_in', wrong))

  equal(await wait(), 100)
})

test('a successful attempt does not count', async (t) => {
  const { attempts, fail, wait } = await start(t)
  await fail(9)

  for (let count = 0; count < 20; count++) await attempts.guess('sign_in', right)

  equal(await wait(), 0)
  await fail(1)
  equal(await wait(), 300)
})

test('a running attempt counts before it is stored', async (t) => {
  const { attempts, wait } = await start(t)

  const started = Array.from({ length: 10 }, () => attempts.guess('sign_in', right))

  // All of them may be right and then do not count, so the wait must be short.
  equal(await wait(), 1)
  deepEqual(await Promise.all(started), Array(10).fill(true))
  equal(await wait(), 0)
})

test('attempts survive a restart', async (t) => {
  const directory = temporaryDirectory(t)
  const first = await start(t, directory)
  await first.fail(10)
  await first.storage.close()

  const { clock, wait, attempts } = await start(t, directory)

  clock.ms = startMs + 100_000
  equal(await wait(), 200)
  await rejects(attempts.guess('sign_in', wrong), { code: 'too_many_attempts' })
})

test('setting the clock back an hour locks nobody out', async (t) => {
  const { clock, fail, wait } = await start(t)
  await fail(10)

  clock.ms = startMs - hourMs
  equal(await wait(), 0)
  await fail(10)

  equal(await wait(), 300)
  clock.ms += 300_000
  equal(await wait(), 0)
})

test('expired attempts are deleted when the next one is stored', async (t) => {
  const { clock, fail, storage } = await start(t)
  await fail(9)

  clock.ms = startMs + attemptWindowMs
  await fail(1)

  deepEqual(
    storage.attempts.list('sign_in').map(({ atMs }) => atMs),
    [clock.ms],
  )
})

test('an attempt that cannot be stored is refused and does not count', async () => {
  const records: AttemptRow[] = []
  const stored: StoredAttempts = {
    list: () => [],
    create: (guessed, atMs) => ({ guessed, atMs, mark: String(records.length) }),
    record: () => Promise.reject(new Error('the disk is full')),
    withdraw: async () => undefined,
    clear: () => undefined,
  }
  const attempts = createAttempts(stored)

  for (let count = 0; count < 12; count++) {
    await rejects(attempts.guess('sign_in', wrong), { message: 'the disk is full' })
  }
})
