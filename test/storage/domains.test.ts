// Custom domains in the store: exclusive even under concurrent requests, and freed with the service's row.
import { deepEqual, equal, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { flipBit, serviceRow } from '../support/storage/store-fixtures.ts'
import { temporaryStorage } from '../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const domain = 'shop.example.com'
const named = (index: number, custom_domains: string[] = []) =>
  serviceRow({ id: `svc-${index}`, name: `shop-${index}`, custom_domains })

test('of fifty services that claim one domain at once, one gets it', async (t) => {
  const { services } = await temporaryStorage(t)
  for (let index = 0; index < 25; index++) await services.create(named(index))
  const claim = { custom_domains: [domain] }
  const updates = Array.from({ length: 25 }, (_, index) =>
    services.update(`svc-${index}`, (row) => ({ ...row, ...claim })),
  )
  const creations = Array.from({ length: 25 }, (_, index) => services.create(named(25 + index, [domain])))

  const outcomes = await Promise.allSettled([...updates, ...creations])

  const refusals = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [[outcome.reason.code, outcome.reason.message]] : [],
  )
  const holders = services.list().filter(({ custom_domains }) => custom_domains.includes(domain))
  deepEqual(refusals, Array(49).fill(['conflict', `the domain ${domain} belongs to another service`]))
  deepEqual(
    holders.map(({ id }) => id),
    [services.holderOf(domain)],
  )
  equal(services.get('shop-49')?.id ?? null, holders[0]?.id === 'svc-49' ? 'svc-49' : null)
})

test('a domain released by its service, or deleted with it, is free immediately', async (t) => {
  const { services } = await temporaryStorage(t)
  await services.create(named(1, [domain, 'www.example.com']))
  await services.create(named(2))
  await services.create(named(3))
  const claim = (id: string, ...custom_domains: string[]) =>
    services.update(id, (row) => ({ ...row, custom_domains }))

  await rejects(claim('svc-2', domain), { code: 'conflict' })
  await claim('svc-1', 'www.example.com')
  await claim('svc-2', domain)
  await services.remove('svc-1')
  await claim('svc-3', 'www.example.com')

  deepEqual(
    [domain, 'www.example.com', 'else.example.com'].map((one) => services.holderOf(one)),
    ['svc-2', 'svc-3', null],
  )
})

test('a refused claim leaves both services and the index unchanged', async (t) => {
  const { services } = await temporaryStorage(t)
  await services.create(named(1, [domain]))
  await services.create(named(2, ['former.example.com']))

  const wanted = ['new.example.com', domain]
  await rejects(
    services.update('svc-2', (row) => ({ ...row, custom_domains: wanted })),
    { code: 'conflict' },
  )

  deepEqual(services.get('svc-2'), named(2, ['former.example.com']))
  deepEqual(
    ['new.example.com', domain, 'former.example.com'].map((one) => services.holderOf(one)),
    [null, 'svc-1', 'svc-2'],
  )
})

test('a domain whose index is damaged is an error, and no other service gets it', async (t) => {
  const directory = temporaryDirectory(t)
  const first = await temporaryStorage(t, directory)
  await first.services.create(named(1, [domain]))
  await first.services.create(named(2))
  await first.close()
  await flipBit(directory, 'domains', domain)
  const { services } = await temporaryStorage(t, directory)

  throws(() => services.holderOf(domain), { code: 'row_damaged' })
  await rejects(
    services.update('svc-2', (row) => ({ ...row, custom_domains: [domain] })),
    { code: 'row_damaged' },
  )
  await services.update('svc-1', (row) => ({ ...row, custom_domains: [] }))
  equal(services.holderOf(domain), null)
})
