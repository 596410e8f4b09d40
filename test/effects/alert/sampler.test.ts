// Alerts from measurements, with a real store and supervisor. Each call of `sample` is a round of 30 seconds.
import { deepEqual, equal } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import { type TestContext, test } from 'node:test'
import * as alert from '../../../machines/alert.ts'
import { alertEffects } from '../../../src/effects/alert/alert.ts'
import { AlertBook } from '../../../src/effects/alert/book.ts'
import { AlertSampler, type SamplerPorts } from '../../../src/effects/alert/sampler.ts'
import { Supervisor } from '../../../src/supervisor/supervisor.ts'
import type { RecordOf } from '../../../storage/actors/actors.ts'
import { issueTestCertificate } from '../../support/edge/test-certificate.ts'
import { serviceRow, transitionOf } from '../../support/storage/store-fixtures.ts'
import { silentLogger, stopBeforeClose, temporaryStorage } from '../../support/supervisor/supervision.ts'

const mebibyte = 1024 * 1024
const past = '2020-01-01T00:00:00.000Z'

const hostRules = ['host_cpu', 'host_memory', 'host_disk', 'host_inodes'] as const

async function start(t: TestContext, custom_domains: string[] = []) {
  const storage = await temporaryStorage(t)
  await storage.services.create(serviceRow({ live_deploy_id: 'dep-1', custom_domains }))
  // The host of the tests may be busy or full.
  for (const rule of hostRules) await storage.alerts.setRule(rule, '', { enabled: false })
  const supervisor = new Supervisor({ storage, catalogue: { alert }, logger: silentLogger })
  supervisor.provide({ alert: alertEffects({ notify: async () => undefined }) })
  stopBeforeClose(t, storage, () => supervisor.stop(1000))
  const now = {
    memory: 0,
    cpuSeconds: 0,
    restarts: 0,
    requests: 100,
    errors: 0,
    p95: 10,
    isAway: false,
    at: 0,
  }
  const ports: SamplerPorts = {
    storage,
    actors: supervisor,
    logger: silentLogger,
    engine: { ping: () => (now.isAway ? Promise.reject(new Error('away')) : Promise.resolve()) },
    serverBackups: { schedule: '0 3 * * *' },
    startedAt: past,
    settings: { dataDir: storage.directory, defaultMemoryLimitMb: 100, defaultCpuLimit: 1 },
    usage() {
      now.at += 30_000
      const used = { running: 1, memoryBytes: now.memory, largestBytes: now.memory * mebibyte }
      return { at: now.at, byService: new Map([['svc-1', used]]) }
    },
    counters: () => ({ restarts: now.restarts, cpuSeconds: now.cpuSeconds }),
    traffic: () => ({ requests: now.requests, errors: now.errors, p95_ms: now.p95 }),
  }
  const sampler = new AlertSampler(ports, new AlertBook(ports, new AbortController().signal))
  const alerts = () => {
    const { actors } = storage
    const found = actors.newest('alert', undefined, { limit: 10 })
    return found.map(({ id }) => actors.record<'alert'>(id) as RecordOf<'alert'>)
  }
  const rounds = async (count: number, change: () => void = () => undefined) => {
    for (let round = 0; round < count; round++) {
      change()
      await sampler.sample()
    }
  }
  const shown = () => alerts().map(({ rule, cleared_at }) => [rule, cleared_at === null])
  return { storage, now, sampler, alerts, rounds, shown }
}

test('memory raises an alert after five minutes, and ends it only well below the limit', async (t) => {
  const { now, rounds, shown, alerts } = await start(t)
  now.memory = 95
  await rounds(7)
  deepEqual(shown(), [])
  await rounds(1)
  deepEqual(shown(), [['service_memory', true]])
  equal(alerts()[0]?.body, 'It is at 95 %; the limit is 90 %.')
  equal(alerts()[0]?.command, 'berth status shop')
  now.memory = 88
  await rounds(20)
  deepEqual(shown(), [['service_memory', true]])
  now.memory = 70
  await rounds(8)
  deepEqual(shown(), [['service_memory', false]])
  equal(alerts()[0]?.count, 1)
})

test('a short peak raises nothing', async (t) => {
  const { now, rounds, shown } = await start(t)
  for (const memory of [99, 99, 10, 99, 99, 10, 99, 99, 10, 99]) {
    now.memory = memory
    await rounds(1)
  }
  deepEqual(shown(), [])
})

const changes: Record<string, [rounds: number, change: (now: Record<string, unknown>) => void]> = {
  service_cpu: [9, (now) => Object.assign(now, { cpuSeconds: (now.cpuSeconds as number) + 29 })],
  service_errors: [2, (now) => Object.assign(now, { errors: 10 })],
  service_latency: [2, (now) => Object.assign(now, { p95: 5000 })],
  engine_unreachable: [2, (now) => Object.assign(now, { isAway: true })],
}

for (const [rule, [count, change]] of Object.entries(changes)) {
  test(`${rule} is raised`, async (t) => {
    const { now, rounds, shown } = await start(t)
    await rounds(count, () => change(now))
    deepEqual(shown(), [[rule, true]])
  })
}

test('three restarts within ten minutes raise an alert', async (t) => {
  const { now, rounds, shown } = await start(t)
  await rounds(1)
  now.restarts = 3
  await rounds(1)
  deepEqual(shown(), [['service_restarts', true]])
})

test('values of the host raise alerts by their limits, and end well below them', async (t) => {
  const { rounds, shown, storage, alerts } = await start(t)
  const work = () => {
    for (const end = performance.now() + 30; performance.now() < end; );
  }
  // Whatever is in use is above the first limit, and below the second.
  for (const rule of hostRules) await storage.alerts.setRule(rule, '', { threshold: 1e-9 })
  await rounds(12, work)
  deepEqual(new Set(shown().map(([rule]) => rule)), new Set(hostRules))
  deepEqual(new Set(alerts().map(({ subject }) => subject.id)), new Set(['host']))
  for (const rule of hostRules) await storage.alerts.setRule(rule, '', { threshold: 200 })
  await rounds(12, work)
  deepEqual(new Set(shown().map(([, isOpen]) => isOpen)), new Set([false]))
})

test('a domain that cannot be reached raises an alert, once its rule is on', async (t) => {
  // Nothing listens at the port of HTTPS of this address of the host.
  const domain = '127.6.6.6'
  const { rounds, shown, storage } = await start(t, [domain])
  await rounds(12)
  deepEqual(shown(), [])
  await storage.alerts.setRule('domain_unreachable', domain, { enabled: true })
  await rounds(12)
  deepEqual(shown(), [['domain_unreachable', true]])
})

test('a domain that answers again ends its alert, unless its certificate is not trusted', async (t) => {
  const domain = '127.6.6.7'
  const { keyPem, chainPem } = await issueTestCertificate([domain])
  const server = createServer({ key: keyPem, cert: chainPem }, (_, response) => response.end())
  try {
    await once(server.listen(443, domain), 'listening')
  } catch (error) {
    return t.skip(`port 443 cannot be opened: ${(error as Error).message}`)
  }
  t.after(() => server.close())
  const { rounds, shown, storage } = await start(t, [domain])
  await storage.alerts.setRule('domain_unreachable', domain, { enabled: true })
  await rounds(12)
  deepEqual(shown(), [['domain_unreachable', true]])
  const { NODE_TLS_REJECT_UNAUTHORIZED: former = '1' } = process.env
  t.after(() => Object.assign(process.env, { NODE_TLS_REJECT_UNAUTHORIZED: former }))
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  await rounds(12)
  deepEqual(shown(), [['domain_unreachable', false]])
})

test('a backup of a datastore that is overdue raises an alert, and one that was made ends it', async (t) => {
  const { storage, sampler, shown } = await start(t)
  const [id, name] = ['dst-1', 'shop-db']
  const facts = { name, backup_schedule: '0 3 * * *' }
  const write = async (revision: number, backups_since: string) => {
    const own = { id, kind: 'datastore', service_id: null, revision }
    const { record, ...rest } = transitionOf(own, { status: 'available' })
    const transition = { ...rest, record: { ...record, ...facts, backups_since } }
    if (revision > 1) return storage.actors.advance(transition)
    await storage.actors.create(transition, () => storage.datastores.insert(id, name, 'secret'))
  }
  await write(1, past)
  await sampler.look()
  deepEqual(shown(), [['backup_late', true]])
  await write(2, new Date().toISOString())
  await sampler.look()
  deepEqual(shown(), [['backup_late', false]])
})

test('a source that cannot be read for an hour raises an alert, unless it does not matter', async (t) => {
  const { storage, sampler, shown } = await start(t)
  const facts = { error: 'cannot read it', obstacle: null as string | null, failing_since: isoIn(-50) }
  const write = async (revision: number, changes: Partial<typeof facts>) => {
    const own = { id: 'aut-1', kind: 'auto-deploy', service_id: 'svc-1', revision }
    const { record, ...rest } = transitionOf(own, { status: 'watching' })
    const transition = { ...rest, record: { ...record, ...facts, ...changes } }
    await storage.actors[revision > 1 ? 'advance' : 'create'](transition)
    await sampler.look()
  }
  await write(1, {})
  await write(2, { failing_since: isoIn(-70), obstacle: 'off' })
  deepEqual(shown(), [])
  await write(3, { failing_since: isoIn(-70) })
  deepEqual(shown(), [['source_unreadable', true]])
})

const isoIn = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()

test('few requests say nothing', async (t) => {
  const { now, rounds, shown } = await start(t)
  Object.assign(now, { requests: 19, errors: 19, p95: 60_000 })
  await rounds(3)
  deepEqual(shown(), [])
})

test('another threshold counts at once, also for one service', async (t) => {
  const { now, rounds, shown, storage } = await start(t)
  await storage.alerts.setRule('service_errors', 'svc-1', { threshold: 50 })
  now.errors = 20
  await rounds(3)
  deepEqual(shown(), [])
  await storage.alerts.setRule('service_errors', 'svc-1', null)
  await rounds(2)
  deepEqual(shown(), [['service_errors', true]])
})

test('an edge that does not serve raises an alert', async (t) => {
  const { rounds, shown, storage } = await start(t)
  await storage.actors.create(
    transitionOf({ id: 'edge', kind: 'edge', service_id: null }, { status: 'waiting' }),
  )
  await rounds(2)
  deepEqual(shown(), [['edge_down', true]])
})

test('a late renewal raises an alert by the days that are left; one in time does not', async (t) => {
  const { sampler, alerts, storage } = await start(t)
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
  const add = async (host: string, not_after: string, renews_at: string) => {
    const id = storage.ids.newId('crt')
    const { record, ...rest } = transitionOf({ id, kind: 'certificate' }, { status: 'valid' })
    await storage.actors.create({
      ...rest,
      record: { ...record, host, not_after, renews_at, error: 'no', attempts: 1 },
    })
  }
  await add('far.example.com', inDays(30), past)
  await add('soon.example.com', inDays(10), past)
  await add('last.example.com', inDays(0.5), past)
  await add('short.example.com', inDays(5), inDays(2))
  await sampler.look()
  const found = alerts().map(({ subject, severity }) => [subject.id, severity])
  deepEqual(found.sort(), [
    ['last.example.com', 'problem'],
    ['soon.example.com', 'info'],
  ])
})

test('an old backup of the server raises an alert, unless the server is held', async (t) => {
  const { storage, sampler, shown } = await start(t)
  const made = transitionOf({ id: 'sbk-1', kind: 'server-backup', service_id: null }, { status: 'stored' })
  await storage.actors.create({ ...made, record: { ...made.record, created_at: past } })
  const { get } = storage.hold
  storage.hold.get = () => ({ restored_at: past, backup_at: past })
  await sampler.look()
  deepEqual(shown(), [])
  storage.hold.get = get
  await sampler.look()
  deepEqual(shown(), [['server_backup', true]])
})
