// Credentials of registries and repositories: sealed, for one host or service, and gone after their removal.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { serviceRow } from '../support/storage/store-fixtures.ts'
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

const id = 'svc-01hnzxd07m5cen5xa66emzsrzw'
const adaAtOrigin = { ...ada, origin: 'https://example.com' }

test('credentials are returned only for their own service, also after a restart', async (t) => {
  const directory = temporaryDirectory(t)
  const first = await temporaryStorage(t, directory)
  await first.services.create(serviceRow({ id }), { also: () => first.credentials.put(id, adaAtOrigin) })
  await first.close()

  const { credentials } = await temporaryStorage(t, directory)

  deepEqual([credentials.get(id), credentials.get('svc-2')], [adaAtOrigin, null])
})

test('null removes the credentials of a service', async (t) => {
  const { credentials, services } = await temporaryStorage(t)
  await services.create(serviceRow(), { also: () => credentials.put('svc-1', adaAtOrigin) })

  await services.update('svc-1', (row) => row, { also: () => credentials.put('svc-1', null) })

  equal(credentials.get('svc-1'), null)
})
