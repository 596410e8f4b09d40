// Stored attempts: distinct, ordered, persistent, and deleted once they are expired.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { AttemptRow, GuessTarget } from '../../../storage/access/attempts.ts'
import type { Storage } from '../../../storage/index.ts'
import { temporaryStorage } from '../../support/supervisor/supervision.ts'

const never = () => false

function instants({ attempts }: Storage, guessed: GuessTarget): number[] {
  return attempts.list(guessed).map(({ atMs }) => atMs)
}

async function recordAttempts(storage: Storage, guessed: GuessTarget, atMs: number): Promise<AttemptRow> {
  const attempt = storage.attempts.create(guessed, atMs)
  await storage.attempts.record(attempt, never)
  return attempt
}

test('withdrawing one attempt leaves the others', async (t) => {
  const storage = await temporaryStorage(t)
  const [one, other] = [
    await recordAttempts(storage, 'sign_in', 7),
    await recordAttempts(storage, 'sign_in', 7),
  ]

  await storage.attempts.withdraw(one)
  await storage.attempts.withdraw(one)

  deepEqual(storage.attempts.list('sign_in'), [other])
})

test('storing an attempt deletes expired attempts of all targets', async (t) => {
  const storage = await temporaryStorage(t)
  for (const atMs of [1, 2, 3]) await recordAttempts(storage, 'sign_in', atMs)
  for (const atMs of [1, 3]) await recordAttempts(storage, 'current_password', atMs)

  await storage.attempts.record(storage.attempts.create('sign_in', 4), ({ atMs }) => atMs < 3)

  deepEqual(instants(storage, 'sign_in'), [3, 4])
  deepEqual(instants(storage, 'current_password'), [3])
})

test('setting a new password on the server clears all attempts', async (t) => {
  const storage = await temporaryStorage(t)
  const sorts: GuessTarget[] = ['sign_in', 'sign_in/device-1', 'current_password']
  for (const guessed of sorts) await recordAttempts(storage, guessed, 7)

  await storage.commit(() => storage.attempts.clear())

  deepEqual(
    sorts.map((guessed) => instants(storage, guessed)),
    [[], [], []],
  )
})
