// Services: rows under concurrent changes, unique names and domains, and reports of their deploys.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import type { ServiceRow } from '../../storage/services.ts'
import { serviceRow, transitionOf } from '../support/storage/store-fixtures.ts'
import { temporaryStorage } from '../support/supervisor/supervision.ts'

test('a service is found by its id and by its name, and the list is ordered by name', async (t) => {
  const { services } = await temporaryStorage(t)
  const [shop, api] = [serviceRow(), serviceRow({ id: 'svc-2', name: 'api' })]
  await services.create(shop)
  await services.create(api)

  deepEqual([services.get('svc-1'), services.get('shop'), services.get('nobody')], [shop, shop, null])
  deepEqual(services.list(), [api, shop])
})

test('an exact id takes precedence over an equal name', async (t) => {
  const { services } = await temporaryStorage(t)
  await services.create(serviceRow({ id: 'svc-1', name: 'shop' }))
  await services.create(serviceRow({ id: 'svc-2', name: 'svc-1' }))

  equal(services.get('svc-1')?.name, 'shop')
})

test('of many concurrent claims to a name, one succeeds', async (t) => {
  const { services } = await temporaryStorage(t)
  const wishes = Array.from({ length: 10 }, (_, index) => services.create(serviceRow({ id: `svc-${index}` })))

  const outcomes = await Promise.allSettled(wishes)

  const codes = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'made'))
  deepEqual(codes, ['made', ...Array<string>(9).fill('name_taken')])
  deepEqual(
    services.list().map(({ id }) => id),
    ['svc-0'],
  )
})

test('a name is free again when its service is removed, and a second removal changes nothing', async (t) => {
  const { services, changes } = await temporaryStorage(t)
  await services.create(serviceRow())
  let also = 0
  await services.remove('svc-1', () => also++)
  await services.remove('svc-1', () => also++)

  await services.create(serviceRow({ id: 'svc-2' }))

  deepEqual([also, services.get('svc-1'), services.get('shop')?.id], [1, null, 'svc-2'])
  deepEqual(
    changes.since(0)?.map(({ id, status, revision }) => [id, status, revision]),
    [
      ['svc-1', null, 1],
      ['svc-1', 'deleted', 2],
      ['svc-2', null, 1],
    ],
  )
})

test('twenty concurrent changes of different fields all survive', async (t) => {
  const { services } = await temporaryStorage(t)
  await services.create(serviceRow())
  const changes = Array.from({ length: 20 }, (_, index) => ({
    name: `field_${index}`,
    value: `value ${index}`,
  }))

  await Promise.all(
    changes.map(({ name, value }) => services.update('svc-1', (row) => ({ ...row, [name]: value }))),
  )

  const expected = Object.fromEntries(changes.map(({ name, value }) => [name, value]))
  deepEqual(services.get('svc-1'), { ...serviceRow(), ...expected, revision: 21 })
})

test('a report of a deploy that is no longer live changes nothing', async (t) => {
  const { services, actors, changes } = await temporaryStorage(t)
  await services.create(serviceRow({ live_deploy_id: 'dep-2' }))
  await actors.create(transitionOf({ id: 'dep-1' }))
  await actors.create(transitionOf({ id: 'dep-2' }))
  const before = services.get('svc-1')

  const report = (id: string) => ({ service: { degraded: true, while_live: id } })
  await actors.advance(transitionOf({ id: 'dep-1', revision: 2 }, report('dep-1')))
  deepEqual(services.get('svc-1'), before)
  await actors.advance(transitionOf({ id: 'dep-2', revision: 2 }, report('dep-2')))

  deepEqual(services.get('svc-1'), { ...before, degraded: true, revision: 4 })
  deepEqual(changes.since(changes.head() - 2)?.[0], {
    number: changes.head() - 1,
    kind: 'service',
    id: 'svc-1',
    service_id: 'svc-1',
    status: null,
    revision: 4,
    transition: null,
  })
})

test('a patch that repeats the current values is not a change', async (t) => {
  const { services, actors, changes } = await temporaryStorage(t)
  await services.create(serviceRow({ live_deploy_id: 'dep-1' }))
  await actors.create(transitionOf({ id: 'dep-1' }))
  const before = changes.head()

  await actors.advance(transitionOf({ id: 'dep-1', revision: 2 }, { service: { live_deploy_id: 'dep-1' } }))

  equal(services.get('svc-1')?.revision, 2)
  deepEqual(
    changes.since(before)?.map(({ kind }) => kind),
    ['deploy'],
  )
})

test('a late transition of its deploy does not restore a deleted service', async (t) => {
  const { services, actors } = await temporaryStorage(t)
  await services.create(serviceRow())
  await services.remove('svc-1')

  await actors.create(transitionOf({ id: 'dep-1' }, { service: { live_deploy_id: 'dep-1' } }))

  deepEqual([services.get('svc-1'), services.list()], [null, []])
})

test('the additional writes of a change are committed with it or not at all', async (t) => {
  const { services, env } = await temporaryStorage(t)
  const vars = [{ key: 'A', value: '1' }]
  await services.create(serviceRow(), { also: () => env.put('svc-1', vars) })

  const taken = services.create(serviceRow({ id: 'svc-2' }), { also: () => env.put('svc-2', vars) })
  await rejects(taken, { code: 'name_taken' })
  await rejects(
    services.update(
      'svc-1',
      () => {
        throw new Error('refused')
      },
      { also: () => env.put('svc-1', []) },
    ),
  )

  deepEqual([env.get('svc-1'), env.get('svc-2')], [vars, []])
})

test('a parked deploy is no longer wanted; a parked live deploy makes its service degraded', async (t) => {
  const { services, actors } = await temporaryStorage(t)
  await services.create(serviceRow({ live_deploy_id: 'dep-1', desired_deploy_id: 'dep-2' }))
  for (const id of ['dep-1', 'dep-2', 'dep-3']) await actors.create(transitionOf({ id }))

  await actors.park('dep-3', 'a bug', '2026-01-01T00:00:00.000Z')
  deepEqual(wantedOf(services.get('svc-1')!), ['dep-1', 'dep-2', false])
  await actors.park('dep-2', 'a bug', '2026-01-01T00:00:00.000Z')
  deepEqual(wantedOf(services.get('svc-1')!), ['dep-1', 'dep-1', false])
  await actors.park('dep-1', 'a bug', '2026-01-01T00:00:00.000Z')
  deepEqual(wantedOf(services.get('svc-1')!), ['dep-1', 'dep-1', true])
})

const wantedOf = (row: ServiceRow) => [row.live_deploy_id, row.desired_deploy_id, row.degraded]

test('only the removal starts for a service that is being deleted', async (t) => {
  const { services, actors } = await temporaryStorage(t)
  await services.create(serviceRow({ deleting: true }))

  await rejects(actors.create(transitionOf({ id: 'dep-1' })), {
    code: 'conflict',
    message: 'the service is being deleted',
  })
  await actors.create(transitionOf({ id: 'rem-1' }, { service: { deleting: true } }))

  deepEqual([actors.get('dep-1'), actors.get('rem-1')?.id], [null, 'rem-1'])
})

const domain = 'shop.example.com'
const named = (index: number, custom_domains: string[] = []) =>
  serviceRow({ id: `svc-${index}`, name: `shop-${index}`, custom_domains })

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
