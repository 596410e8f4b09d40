// The effects of a certificate under a real supervisor on a real store, with a real CA (Pebble).
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { CertificateEdge } from '../../../src/effects/certificate/order.ts'
import { openCa, otherAddress, serverAddress, withCa } from '../../support/edge/ca.ts'
import { boot, isValid, isWaiting, openLife } from '../../support/effects/certificates.ts'
import { serviceRow } from '../../support/storage/store-fixtures.ts'
import { eventually } from '../../support/supervisor/supervision.ts'
import { isInside } from '../../support/system/namespace.ts'

const test = await withCa(import.meta.url)
const ca = isInside ? await openCa() : ({} as never)
const filesOf = (directory: string) => readdirSync(join(directory, 'certificates')).sort()

test('every public host gets a certificate from one shared account, and no other host does', async (t) => {
  const life = await openLife(t, ca, { dashboardHost: 'berth.example.com' })
  const { route, until, installed, rows } = boot(t, life, ca)
  for (const host of ['a.example.com', 'b.example.com', 'berth.example.com'])
    ca.names.hosts.set(host, [serverAddress])

  await route('svc-1', 'a.example.com', 'b.example.com', 'shop.lan', '192.0.2.7', 'shop')
  await route('svc-2')

  for (const host of ['a.example.com', 'b.example.com', 'berth.example.com']) {
    const { not_after, renews_at, error } = await until(host, 'valid', isValid)
    equal(life.storage.certificates.find(host)?.notAfter, not_after)
    ok(renews_at! < not_after!)
    equal(error, null)
  }
  deepEqual(installed.at(-1), ['a.example.com', 'b.example.com', 'berth.example.com'])
  equal(rows().length, 3)
  const [first, account, ...others] = filesOf(life.storage.directory)
  match(account!, /^account-[0-9a-f]{16}\.key\.json$/)
  deepEqual([first, ...others], ['a.example.com.pem', 'b.example.com.pem', 'berth.example.com.pem'])
  equal(ca.edge.answers.size, 0)
})

test('concurrent requests for a host yield one certificate', async (t) => {
  const life = await openLife(t, ca)
  const { ensure, until, rows } = boot(t, life, ca)
  const host = 'once.example.com'
  ca.names.hosts.set(host, [serverAddress])
  await life.storage.services.create(
    serviceRow({ id: 'svc-1', live_deploy_id: 'dep-1', custom_domains: [host] }),
  )

  await Promise.all(Array.from({ length: 5 }, ensure))
  await until(host, 'valid', isValid)
  await Promise.all([ensure(), ensure()])

  equal(rows().length, 1)
})

test('a new host is picked up automatically, and a removed one is dropped', async (t) => {
  const life = await openLife(t, ca)
  const { start, until } = boot(t, life, ca)
  const { services, actors } = life.storage
  const host = 'later.example.com'
  ca.names.hosts.set(host, [serverAddress])
  const stop = start()
  t.after(stop)

  await services.create(serviceRow({ id: 'svc-1', live_deploy_id: 'dep-1', custom_domains: [host] }))
  await until(host, 'valid', isValid)
  await services.update('svc-1', (row) => ({ ...row, deleting: true }))

  await eventually('it to be dropped', () => [...actors.active('certificate')].length === 0)
  deepEqual(life.storage.certificates.list(), [])
})

test('a service gets its certificate when it first goes live', async (t) => {
  const life = await openLife(t, ca)
  const { ensure, until, rows, start } = boot(t, life, ca)
  const { services } = life.storage
  const host = 'new.example.com'
  ca.names.hosts.set(host, [serverAddress])
  const stop = start()
  t.after(stop)

  await services.create(serviceRow({ id: 'svc-1', name: 'shop', custom_domains: [host] }))
  await services.update('svc-1', (row) => ({ ...row, desired_deploy_id: 'dep-1' }))
  await ensure()
  deepEqual(rows(), [])
  await services.update('svc-1', (row) => ({ ...row, live_deploy_id: 'dep-1' }))

  const { not_after } = await until(host, 'valid', isValid)
  await services.update('svc-1', (row) => ({ ...row, suspended: true }))
  await ensure()
  equal((await until(host, 'valid', isValid)).not_after, not_after)
})

test('without an e-mail nothing is requested', async (t) => {
  const life = await openLife(t, ca, {
    settings: { acmeEmail: null, acmeDirectory: 'https://ca.example.com' },
  })
  const { route, rows } = boot(t, life, ca)

  await route('svc-1', 'quiet.example.com')

  deepEqual(rows(), [])
})

test('a host that points elsewhere waits without a request to the CA', async (t) => {
  const life = await openLife(t, ca)
  const { route, until, retry } = boot(t, life, ca)
  const host = 'moved.example.com'
  ca.names.hosts.set(host, [otherAddress])

  await route('svc-1', host)
  const { status, error, hint, next_attempt_at } = await until(host, 'waiting', isWaiting)

  deepEqual(
    [status, error, hint],
    [
      'waiting',
      `${host} points to ${otherAddress}, not to this server`,
      `set the A (or AAAA) record of ${host} to ${serverAddress}`,
    ],
  )
  ok(Date.parse(next_attempt_at!) > Date.now())
  equal(life.storage.certificates.list().length, 0)
  deepEqual(filesIfAny(life.storage.directory), [])
  ca.names.hosts.set(host, [serverAddress])
  equal(await retry(host), true)
  equal((await until(host, 'valid', isValid)).error, null)
})

/** The stored files of the CA; none before the first order. */
function filesIfAny(directory: string): string[] {
  return readdirSync(directory).includes('certificates') ? filesOf(directory) : []
}

test('an unavailable CA is retried', async (t) => {
  const life = await openLife(t, ca)
  const { route, until, retry } = boot(t, life, ca)
  const host = 'down.example.com'
  ca.names.hosts.set(host, [serverAddress])
  await ca.pebble.stop()
  t.after(() => ca.pebble.restart())

  await route('svc-1', host)
  const { error } = await until(host, 'waiting', isWaiting)
  match(error!, /^localhost:14000 cannot be reached: connect ECONNREFUSED/)

  await ca.pebble.restart()
  equal(await retry(host), true)
  await until(host, 'valid', isValid)
})

test("the CA's reason for not reaching a host is shown", async (t) => {
  const life = await openLife(t, ca)
  // The edge serves our own challenge, and loses those of the CA.
  const change = (real: CertificateEdge): Partial<CertificateEdge> => ({
    putChallenge: (token, response, signal) =>
      response.includes('.') ? Promise.resolve() : real.putChallenge(token, response, signal),
  })
  const { route, until } = boot(t, life, ca, change)
  const host = 'lost.example.com'
  ca.names.hosts.set(host, [serverAddress])

  await route('svc-1', host)
  const { error, next_attempt_at } = await until(host, 'waiting', isWaiting)

  match(error!, /^the CA could not check lost\.example\.com: .*404/)
  ok(Date.parse(next_attempt_at!) > Date.now() + 10 * 60_000)
})

test('a certificate is renewed before it expires, and the previous one serves until then', async (t) => {
  const life = await openLife(t, ca)
  const { route, until, installed } = boot(t, life, ca)
  const { certificates } = life.storage
  const host = 'short.example.com'
  ca.names.hosts.set(host, [serverAddress])
  await ca.pebble.restart({}, 18)
  t.after(() => ca.pebble.restart())

  await route('svc-1', host)
  const first = await until(host, 'valid', isValid)
  const previous = certificates.find(host)!
  equal(certificates.isValid(host), true)
  const second = await until(host, 'renewed', (row) => isValid(row) && row.not_after !== first.not_after)

  ok(second.not_before! < first.not_after!)
  notEqual(certificates.find(host)?.fingerprint, previous.fingerprint)
  ok(installed.length >= 2)
})

test('while every renewal fails the certificate stays valid until it expires', async (t) => {
  const life = await openLife(t, ca)
  const { route, until, installed, rowOf } = boot(t, life, ca)
  const host = 'ending.example.com'
  ca.names.hosts.set(host, [serverAddress])
  await ca.pebble.restart({}, 14)
  await route('svc-1', host)
  await until(host, 'valid', isValid)
  await ca.pebble.stop()
  t.after(() => ca.pebble.restart())

  const late = await until(host, 'late', isWaiting)
  deepEqual([late.status, late.phase], ['valid', null])
  match(late.error!, /cannot be reached/)
  await until(host, 'expired', ({ status }) => status === 'expired')
  await eventually('the edge to drop it', () => installed.at(-1)?.length === 0)
  equal(rowOf(host)?.not_after, late.not_after)
})
