// The CA's weekly limit over the lifetime of certificates, with a real CA (Pebble).
import { deepEqual, equal, ok } from 'node:assert/strict'
import { openCa, serverAddress, withCa } from '../../support/edge/ca.ts'
import { boot, isValid, isWaiting, openLife } from '../../support/effects/certificates.ts'
import { isInside } from '../../support/system/namespace.ts'

const test = await withCa(import.meta.url)
const ca = isInside ? await openCa() : ({} as never)

test('over the weekly limit new hosts wait, even after a restart, and renewals continue', async (t) => {
  const settings = { acmeEmail: 'ada@example.com', acmeDirectory: ca.pebble.directoryUrl, newPerWeek: 1 }
  const life = await openLife(t, ca, { settings })
  const first = boot(t, life, ca)
  const hosts = ['one.example.com', 'two.example.com', 'three.example.org']
  for (const host of hosts) ca.names.hosts.set(host, [serverAddress])
  await ca.pebble.restart({}, 18)
  t.after(() => ca.pebble.restart())
  await first.route('svc-1', hosts[0]!)
  const { not_after } = await first.until(hosts[0]!, 'valid', isValid)
  await first.stop()

  const second = boot(t, life, ca)
  await second.restore()
  await second.route('svc-2', hosts[1]!, hosts[2]!)
  const { status, error, next_attempt_at } = await second.until(hosts[1]!, 'waiting', isWaiting)
  await second.until(hosts[2]!, 'valid', isValid)
  await second.until(hosts[0]!, 'renewed', (row) => isValid(row) && row.not_after !== not_after)

  const limit = 'the limit is 1 a week'
  deepEqual([status, error], ['waiting', `1 new certificate of example.com in 7 days: ${limit}`])
  ok(Date.parse(next_attempt_at!) > Date.now() + 6 * 86_400_000)
  equal(await second.retry(hosts[1]!), false)
  const used = second.usage().map(({ domain, issued, remaining }) => [domain, issued, remaining])
  deepEqual(used, [
    ['example.com', 1, 0],
    ['example.org', 1, 0],
  ])
})
