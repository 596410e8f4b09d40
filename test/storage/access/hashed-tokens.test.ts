// Rows that are found by a secret. The secret cannot be recovered from the stored data.
import { deepEqual, equal, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { TokenRow } from '../../../storage/access/hashed-tokens.ts'
import { hashSecret } from '../../../storage/access/hashed-tokens.ts'
import type { Storage } from '../../../storage/index.ts'
import { filesWith } from '../../support/storage/canary.ts'
import { flipBit } from '../../support/storage/store-fixtures.ts'
import { instant, temporaryStorage } from '../../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const later = '2026-01-01T00:01:00.000Z'
const secretOf = (number: number) => `bth_canary-${number}-8f21c07d`

function tokenRow(number: number, changes: Partial<TokenRow> = {}): TokenRow {
  const times = {
    role: 'admin',
    services: null,
    created_at: instant,
    last_used_at: null,
    expires_at: null,
  } as const
  return { id: `tok-${number}`, name: `ci ${number}`, hint: 'c07d', ...times, ...changes }
}

/** Tokens 1 to 3, in that order. */
async function withThree(storage: Storage): Promise<Storage> {
  await storage.commit((commit) => {
    for (const number of [1, 2, 3]) storage.tokens.insert(commit, secretOf(number), tokenRow(number))
  })
  return storage
}

test('rows are found by secret and by id, and listed newest first', async (t) => {
  const { tokens, sessions } = await withThree(await temporaryStorage(t))

  deepEqual(tokens.bySecret(secretOf(2)), tokenRow(2))
  deepEqual(tokens.byId('tok-2'), tokenRow(2))
  deepEqual(tokens.list(), [tokenRow(3), tokenRow(2), tokenRow(1)])
  deepEqual([tokens.bySecret('bth_other'), tokens.bySecret(''), tokens.byId('tok-9')], [null, null, null])
  deepEqual([sessions.bySecret(secretOf(2)), sessions.list()], [null, []])
})

test('neither the id nor the hash works as a secret', async (t) => {
  const { tokens } = await withThree(await temporaryStorage(t))

  deepEqual([tokens.bySecret('tok-2'), tokens.bySecret(hashSecret(secretOf(2)))], [null, null])
})

test('a row replaces the row with the same id, and the old secret stops working', async (t) => {
  const { tokens, commit } = await withThree(await temporaryStorage(t))

  await commit((commit) => tokens.insert(commit, 'bth_new', tokenRow(2, { name: 'again' })))

  equal(tokens.bySecret(secretOf(2)), null)
  equal(tokens.bySecret('bth_new')?.name, 'again')
  equal(tokens.list().length, 3)
})

test('a removed row is not found by secret, by id or in the list', async (t) => {
  const { tokens } = await withThree(await temporaryStorage(t))

  deepEqual([await tokens.remove('tok-2'), await tokens.remove('tok-2')], [true, false])

  deepEqual([tokens.bySecret(secretOf(2)), tokens.byId('tok-2')], [null, null])
  deepEqual(tokens.list(), [tokenRow(3), tokenRow(1)])
})

test('recording a use does not restore a removed row', async (t) => {
  const { tokens } = await withThree(await temporaryStorage(t))

  await tokens.touch('tok-1', later)
  await tokens.remove('tok-2')
  await tokens.touch('tok-2', later)

  deepEqual(tokens.bySecret(secretOf(1)), tokenRow(1, { last_used_at: later }))
  deepEqual([tokens.byId('tok-2'), tokens.list().length], [null, 2])
})

test('expired rows are deleted, and the others stay', async (t) => {
  const { tokens, changes } = await withThree(await temporaryStorage(t))
  const before = changes.head()

  await tokens.removeWhere(({ id }) => id === 'tok-1' || id === 'tok-3')
  const reported = changes.since(before)?.map(({ kind, id, status }) => `${kind} ${id} ${status}`)
  await tokens.removeWhere(() => false)

  deepEqual(tokens.list(), [tokenRow(2)])
  equal(tokens.bySecret(secretOf(1)), null)
  deepEqual(reported?.sort(), ['token tok-1 deleted', 'token tok-3 deleted'])
  equal(changes.head(), before + 2)
})

test('rows survive a restart, and no file contains a secret', async (t) => {
  const directory = temporaryDirectory(t)
  const first = await withThree(await temporaryStorage(t, directory))
  await first.commit((commit) =>
    first.sessions.insert(commit, 'bths_canary-51d9', {
      id: 'ses-1',
      created_at: instant,
      last_used_at: instant,
      user_agent: 'canary-agent',
    }),
  )
  await first.close()

  const { tokens, sessions } = await temporaryStorage(t, directory)

  deepEqual(tokens.bySecret(secretOf(3)), tokenRow(3))
  equal(sessions.bySecret('bths_canary-51d9')?.id, 'ses-1')
  deepEqual([filesWith(directory, secretOf(3)), filesWith(directory, 'bths_canary-51d9')], [[], []])
  notEqual(filesWith(directory, 'canary-agent').length, 0)
})

test('a damaged row grants no access, hides no other row and can be removed', async (t) => {
  const directory = temporaryDirectory(t)
  const first = await withThree(await temporaryStorage(t, directory))
  await first.close()
  await flipBit(directory, 'tokens', hashSecret(secretOf(2)))

  const { tokens } = await temporaryStorage(t, directory)

  deepEqual([tokens.bySecret(secretOf(2)), tokens.byId('tok-2')], [null, null])
  deepEqual(tokens.list(), [tokenRow(3), tokenRow(1)])
  await tokens.touch('tok-2', later)
  equal(await tokens.remove('tok-2'), true)
  equal(await tokens.remove('tok-2'), false)
})
