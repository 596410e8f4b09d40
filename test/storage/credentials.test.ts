// Credentials of a repository: sealed, for one service, and removed when the URL no longer has them.
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { openCredentials } from '../../storage/git-connections.ts'
import { openSealer } from '../../storage/secrets.ts'
import { filesWith } from '../support/storage/canary.ts'
import { openTestStore, serviceRow } from '../support/storage/store-fixtures.ts'
import { temporaryStorage } from '../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const id = 'svc-01hnzxd07m5cen5xa66emzsrzw'
const ada = { username: 'ada', password: 'canary-pässword-93c1', origin: 'https://example.com' }

test('credentials are returned only for their own service, also after a restart', async (t) => {
  const directory = temporaryDirectory(t)
  const first = await temporaryStorage(t, directory)
  await first.services.create(serviceRow({ id }), { also: () => first.credentials.put(id, ada) })
  await first.close()

  const { credentials } = await temporaryStorage(t, directory)

  deepEqual([credentials.get(id), credentials.get('svc-2')], [ada, null])
})

test('null removes the credentials', async (t) => {
  const { credentials, services } = await temporaryStorage(t)
  await services.create(serviceRow(), { also: () => credentials.put('svc-1', ada) })

  await services.update('svc-1', (row) => row, { also: () => credentials.put('svc-1', null) })

  equal(credentials.get('svc-1'), null)
})

test('credentials sealed for one service do not open for another', async (t) => {
  const directory = temporaryDirectory(t)
  const store = openTestStore(t, directory)
  const credentials = openCredentials(store, openSealer(directory, { create: true }))
  const rows = store.table<string>('credentials')
  await store.commit(() => credentials.put(id, ada))

  await store.commit(() => rows.put('svc-2', rows.get(id)!))
  throws(() => credentials.get('svc-2'), { code: 'secret_damaged' })

  await store.commit(() => credentials.put('svc-2', null))
  equal(rows.get('svc-2'), null)
})

test('no file in the data directory contains the password', async (t) => {
  const directory = temporaryDirectory(t)
  const storage = await temporaryStorage(t, directory)
  await storage.services.create(serviceRow(), { also: () => storage.credentials.put('svc-1', ada) })
  await storage.close()

  deepEqual(filesWith(directory, ada.password), [])
})
