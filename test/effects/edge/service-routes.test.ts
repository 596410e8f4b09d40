// The wanted routes of the edge, from rows: a pool for each service, and a service with its settings for
// each host.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { type ServiceRoute, ServiceRoutes, toRoutes } from '../../../src/effects/edge/service-routes.ts'
import type { UpstreamRow } from '../../../storage/upstreams.ts'
import { serviceRow } from '../../support/storage/store-fixtures.ts'
import { temporaryStorage } from '../../support/supervisor/supervision.ts'

const around = { certificates: new Map(), challenges: new Map(), dashboardHost: null }

function route(changed: Partial<ServiceRoute>): ServiceRoute {
  const limits = { bodyLimitBytes: 1000, timeoutMs: 75_000, redirects: new Map() }
  return {
    id: 'svc-1',
    pool: 1,
    hosts: ['a.test'],
    isSuspended: false,
    hsts: false,
    upstreams: [],
    ...limits,
    ...changed,
  }
}
const row = (slot: number, state: UpstreamRow['state']): UpstreamRow => ({
  slot,
  deploy_id: 'dep-1',
  index: 0,
  address: `10.0.0.${slot}`,
  port: 3000,
  state,
  run: null,
})

test('each host routes to the pool of its service, with its limits', () => {
  const services = [
    route({ hosts: ['a.test', 'shop.example'] }),
    route({ pool: 3, hosts: ['b.test'], timeoutMs: 5 }),
  ]
  const { maps, pools } = toRoutes(services, around)
  deepEqual([...maps.hosts].sort(), [
    ['a.test', 'p1'],
    ['b.test', 'p3'],
    ['shop.example', 'p1'],
  ])
  deepEqual([maps.timeouts.get('b.test'), maps['body-limits'].get('a.test')], ['5', '1000'])
  deepEqual(
    pools.map(({ name }) => name),
    ['p1', 'p2', 'p3'],
  )
})

test('a redirected host has a target instead of a pool, unless the service is suspended', () => {
  const redirects = new Map([['www.a.test', 'a.test']])
  const of = (isSuspended: boolean) =>
    toRoutes([route({ hosts: ['a.test', 'www.a.test'], redirects, isSuspended })], around).maps
  deepEqual([...of(false).hosts].sort(), [
    ['a.test', 'p1'],
    ['www.a.test', 'redirected'],
  ])
  deepEqual([...of(false).redirects], [['www.a.test', 'a.test']])
  equal(of(true).hosts.get('www.a.test'), 'suspended')
})

test('slots keep their positions, also with a gap before them', () => {
  const upstreams = [row(2, 'ready'), { ...row(3, 'verifying'), protocol: 'h2c' as const }, row(5, 'out')]
  const [pool] = toRoutes([route({ upstreams })], around).pools
  deepEqual(pool!.upstreams, [
    null,
    { address: '10.0.0.2', port: 3000, isHttp2: false, state: 'ready' },
    { address: '10.0.0.3', port: 3000, isHttp2: true, state: 'verifying' },
    null,
    { address: '10.0.0.5', port: 3000, isHttp2: false, state: 'leaving' },
  ])
})

test('a suspended service gets a page instead of its pool', () => {
  equal(toRoutes([route({ isSuspended: true })], around).maps.hosts.get('a.test'), 'suspended')
})

test('https and hsts apply to hosts with a certificate, and the dashboard is https-only', () => {
  const certificates = new Map([['a.test', 'pem']])
  const hosts = ['a.test', 'b.test']
  const { maps } = toRoutes([route({ hosts, hsts: true })], {
    ...around,
    certificates,
    dashboardHost: 'berth.test',
  })
  deepEqual([...maps.https.keys()].sort(), ['a.test', 'berth.test'])
  const value = 'max-age=31536000'
  deepEqual(Object.fromEntries(maps.hsts), { 'a.test': value, 'berth.test': value })
  equal(maps.hosts.get('berth.test'), 'dashboard')
})

test('a default host wins a conflict, and the dashboard wins over all', () => {
  const ownRoute = route({ id: 'svc-1', pool: 1, hosts: ['shop.example'] })
  const custom = route({ id: 'svc-2', pool: 2, hosts: ['b.test', 'shop.example', 'berth.test'] })
  for (const services of [
    [ownRoute, custom],
    [custom, ownRoute],
  ]) {
    const { maps } = toRoutes(services, { ...around, dashboardHost: 'berth.test' })
    deepEqual([maps.hosts.get('shop.example'), maps.hosts.get('berth.test')], ['p1', 'dashboard'])
  }
})

test('public services get a pool, and are read again only after a change', async (t) => {
  const storage = await temporaryStorage(t)
  await storage.services.create(serviceRow({ id: 'svc-1', name: 'shop' }))
  await storage.services.create(serviceRow({ id: 'svc-2', name: 'inner', type: 'private_service' }))
  const routes = new ServiceRoutes({ storage, settings: { baseDomain: 'localhost' } } as never)
  await routes.ensurePools()
  deepEqual(
    routes.all().map(({ id, pool, hosts }) => [id, pool, hosts]),
    [['svc-1', 1, ['shop.localhost']]],
  )

  await storage.services.update('svc-1', (service) => ({ ...service, suspended: true }))
  equal(routes.byHost('shop.localhost')?.isSuspended, false)
  routes.touch('svc-1')
  equal(routes.byHost('shop.localhost')?.isSuspended, true)
  await storage.services.remove('svc-1')
  routes.touch('svc-1')
  equal(routes.byHost('shop.localhost'), null)
})
