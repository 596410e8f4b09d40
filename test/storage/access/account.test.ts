// The stored account: one, persistent, and readable with one of its two rows damaged.
import { deepEqual, equal, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { flipBit } from '../../support/storage/store-fixtures.ts'
import { instant, temporaryStorage } from '../../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const ada = { id: 'usr-1', email: 'ada@example.com', password_hash: '$argon2id$one', created_at: instant }

test('no account exists at first; a created account survives a restart', async (t) => {
  const directory = temporaryDirectory(t)
  const first = await temporaryStorage(t, directory)
  equal(first.account.get(), null)

  await first.commit((commit) => first.account.create(commit, ada))
  deepEqual(first.account.get(), ada)
  await first.close()

  deepEqual((await temporaryStorage(t, directory)).account.get(), ada)
})

test('a second account is refused and the first is unchanged', async (t) => {
  const { account, commit } = await temporaryStorage(t)
  await commit((commit) => account.create(commit, ada))

  const second = commit((commit) => account.create(commit, { ...ada, email: 'eve@example.com' }))

  await rejects(second, { code: 'already_set_up' })
  deepEqual(account.get(), ada)
})

test('a new password replaces only the hash', async (t) => {
  const { account, commit } = await temporaryStorage(t)
  await rejects(
    commit((commit) => account.setPassword(commit, '$argon2id$two')),
    { code: 'not_found' },
  )
  await commit((commit) => account.create(commit, ada))

  await commit((commit) => account.setPassword(commit, '$argon2id$two'))

  deepEqual(account.get(), { ...ada, password_hash: '$argon2id$two' })
})

for (const row of ['account', 'account_copy']) {
  test(`with its row ${row} damaged the administrator can still sign in`, async (t) => {
    const directory = temporaryDirectory(t)
    const first = await temporaryStorage(t, directory)
    await first.commit((commit) => first.account.create(commit, ada))
    await first.close()
    await flipBit(directory, 'account', row)

    deepEqual((await temporaryStorage(t, directory)).account.get(), ada)
  })
}

test('with both rows damaged the server does not count as one without an account', async (t) => {
  const directory = temporaryDirectory(t)
  const first = await temporaryStorage(t, directory)
  await first.commit((commit) => first.account.create(commit, ada))
  await first.close()
  for (const row of ['account', 'account_copy']) await flipBit(directory, 'account', row)

  const { account, commit } = await temporaryStorage(t, directory)

  throws(() => account.get(), { code: 'row_damaged' })
  await rejects(
    commit((commit) => account.create(commit, ada)),
    { code: 'row_damaged' },
  )
})
