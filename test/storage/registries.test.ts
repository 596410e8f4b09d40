// Credentials of registries: sealed, stored per host, and gone after their removal.
import { deepEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { openRegistries } from '../../storage/registries.ts'
import { openSealer } from '../../storage/secrets.ts'
import { filesWith } from '../support/storage/canary.ts'
import { openTestStore } from '../support/storage/store-fixtures.ts'
import { instant, temporaryStorage } from '../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const ada = { username: 'ada', password: 'canary-pässword-77b0' }
const later = '2026-01-02T00:00:00.000Z'

test('credentials are returned only for their own host, also after a restart', async (t) => {
  const directory = temporaryDirectory(t)
  const first = await temporaryStorage(t, directory)
  const put = await first.registries.put('ghcr.io', ada, instant)
  await first.close()

  const { registries } = await temporaryStorage(t, directory)

  const stored = { host: 'ghcr.io', ...ada, created_at: instant, updated_at: instant }
  deepEqual([put, registries.get('ghcr.io'), registries.get('ghcr.io:443')], [stored, stored, null])
})

test('new credentials replace the old ones and keep their creation time', async (t) => {
  const { registries } = await temporaryStorage(t)
  await registries.put('ghcr.io', ada, instant)

  await registries.put('ghcr.io', { username: 'bob', password: 'other' }, later)

  deepEqual(registries.list(), [
    { host: 'ghcr.io', username: 'bob', password: 'other', created_at: instant, updated_at: later },
  ])
})

test('removed credentials are gone, and a second removal reports that none existed', async (t) => {
  const { registries } = await temporaryStorage(t)
  for (const host of ['b.test', 'a.test:5000']) await registries.put(host, ada, instant)

  deepEqual([await registries.remove('b.test'), await registries.remove('b.test')], [true, false])

  deepEqual(
    registries.list().map(({ host }) => host),
    ['a.test:5000'],
  )
})

test('no file in the data directory contains the password', async (t) => {
  const directory = temporaryDirectory(t)
  const storage = await temporaryStorage(t, directory)
  await storage.registries.put('ghcr.io', ada, instant)
  await storage.close()

  deepEqual(filesWith(directory, ada.password), [])
})

test('credentials copied to another host do not open there', async (t) => {
  const directory = temporaryDirectory(t)
  const store = openTestStore(t, directory)
  const registries = openRegistries(store, openSealer(directory, { create: true }))
  await registries.put('ghcr.io', ada, instant)

  const rows = store.table<string>('registries')
  await store.commit(() => rows.put('evil.test', rows.get('ghcr.io')!))

  throws(() => registries.get('evil.test'), { code: 'secret_damaged' })
})
