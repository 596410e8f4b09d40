// Rules that are computed from the records and applied: a fake firewall records them.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { preDeployIndex } from '../../../src/docker/engine/names.ts'
import { allocateAddress, Isolation } from '../../../src/effects/isolation/isolation.ts'
import type { Firewall } from '../../../src/firewall/firewall.ts'
import type { RuleSet } from '../../../src/firewall/rules.ts'
import type { EnvVar } from '../../../storage/env.ts'
import type { Storage } from '../../../storage/index.ts'
import { serviceRow, transitionOf } from '../../support/storage/store-fixtures.ts'
import { eventually, silentLogger, temporaryStorage } from '../../support/supervisor/supervision.ts'

const network = { name: 'berth', range: { first: '10.9.0.2', last: '10.9.0.200' }, gateway: '10.9.0.1' }

async function open(t: TestContext) {
  const storage = await temporaryStorage(t)
  const applied: RuleSet[] = []
  const kernel = { refusal: null as string | null, isIntact: true }
  const firewall: Firewall = {
    async apply(rules) {
      if (kernel.refusal !== null) throw new Error(kernel.refusal)
      kernel.isIntact = true
      applied.push(rules)
    },
    isInForce: async () => kernel.isIntact,
  }
  const isolation = new Isolation({
    storage,
    firewall,
    prefix: 'berth',
    hostPorts: [80],
    logger: silentLogger,
  })
  t.after(() => isolation.close())
  const ports = { storage, isolation }
  const addDatastore = (id: string, name: string) =>
    storage.commit(() => storage.datastores.insert(id, name, 'secret'))
  const take = (id: string, index = 0) => allocateAddress(ports, id, index, network)
  return { storage, applied, kernel, isolation, addDatastore, take }
}

test('before the engine responds nothing is enforced, and the status shows it', async (t) => {
  const { isolation, applied } = await open(t)
  await isolation.apply()
  assert.deepEqual(isolation.state(), { enforced: false, reason: 'the Docker engine has not responded yet' })
  assert.deepEqual(applied, [])
})

test('an address is allowed before its container can start', async (t) => {
  const { storage, isolation, applied, addDatastore, take } = await open(t)
  isolation.open('br-test')
  await addDatastore('dst-1', 'cache')
  await storage.datastores.share('dst-1', true)

  const address = await take('dst-1')

  assert.deepEqual(applied.at(-1), {
    table: 'berth-isolation',
    bridge: 'br-test',
    hostPorts: [80],
    pairs: [],
    shared: [address],
    hostPairs: [],
  })
  assert.deepEqual(isolation.state(), { enforced: true, reason: null })
})

test('unchanged rules are not applied again, except after the engine restarted', async (t) => {
  const { isolation, applied } = await open(t)
  isolation.open('br-test')
  await isolation.apply()
  await isolation.apply()
  assert.equal(applied.length, 1)
  isolation.open('br-test')
  await isolation.apply()
  assert.equal(applied.length, 2)
})

test('a kernel error is reported, blocks no start, and is retried', async (t) => {
  const { isolation, applied, kernel, addDatastore, take } = await open(t)
  kernel.refusal = 'nft needs root'
  isolation.open('br-test')
  await addDatastore('dst-1', 'cache')
  await take('dst-1')
  assert.deepEqual(isolation.state(), { enforced: false, reason: 'nft needs root' })
  kernel.refusal = null
  await eventually('rules', () => applied.length > 0)
  assert.deepEqual(isolation.state(), { enforced: true, reason: null })
})

test('missing rules are applied again', async (t) => {
  const { isolation, applied, kernel } = await open(t)
  isolation.open('br-test')
  await isolation.apply()
  kernel.isIntact = false
  await eventually('rules again', () => applied.length === 2)
})

test('allowed pairs follow from the references of each release and from common services', async (t) => {
  const { storage, isolation, applied, addDatastore, take } = await open(t)
  isolation.open('br-test')
  await addDatastore('dst-1', 'cache')
  await storage.datastores.movePort('dst-1', [25_000])
  for (const [name, shared_network] of [
    ['web', false],
    ['api', false],
    ['open', true],
  ] as const) {
    await storage.services.create(serviceRow({ id: `svc-${name}`, name, shared_network }))
  }
  const old = await take('dst-1')
  const value = '${{service.api.host}} ${{datastore.cache.host}} $${{service.open.host}}'
  const env = [{ key: 'A', value }]
  await addDeploy(storage, 'dep-web', 'svc-web', env)
  await addDeploy(storage, 'dep-api', 'svc-api', [])
  await addDeploy(storage, 'dep-open', 'svc-open', [])
  await addDeploy(storage, 'job-web', 'svc-web', [], { deploy_id: 'dep-web' })

  const web = [await take('dep-web', 0), await take('dep-web', 1)]
  const [api, preDeploy, shared, job] = [
    await take('dep-api'),
    await take('dep-api', preDeployIndex),
    await take('dep-open'),
    await take('job-web'),
  ]

  const { pairs, shared: open_, hostPairs } = applied.at(-1)!
  const expected = [...web, job].flatMap((from) => [
    ...[...web, job].filter((to) => to !== from).map((to) => `${from} ${to}`),
    `${from} ${api}`,
    `${from} ${old}`,
  ])
  const ownPairs = [`${api} ${preDeploy}`, `${preDeploy} ${api}`]
  assert.deepEqual(pairs.map((pair) => pair.join(' ')).sort(), [...expected, ...ownPairs].sort())
  assert.deepEqual(open_, [shared])
  assert.deepEqual(hostPairs.map(String).sort(), [...web, job].map((from) => `${from},25000`).sort())
})

test('services older than the setting are reachable by all, and reach no others', async (t) => {
  const { storage, isolation, applied, take } = await open(t)
  isolation.open('br-test')
  const row = serviceRow({ id: 'svc-old', name: 'old' })
  assert.ok(!('shared_network' in row))
  await storage.services.create(row)
  await addDeploy(storage, 'dep-old', 'svc-old', [])

  const address = await take('dep-old')

  assert.deepEqual([applied.at(-1)!.shared, applied.at(-1)!.pairs], [[address], []])
})

async function addDeploy(storage: Storage, id: string, service_id: string, env: EnvVar[], more: object = {}) {
  const transition = transitionOf({ id, service_id })
  const record = { ...transition.record, id, service_id, ...more }
  await storage.actors.create({ ...transition, record })
  await storage.releases.freeze(id, () => ({ settings: serviceRow(), env, resolved: null }))
}
