// The count of new certificates per registered domain: the remaining number, and when the next one
// is allowed.
import { deepEqual, equal, match } from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { registeredDomainOf } from '../../../src/dns/registered-domain.ts'
import { allowance, openWeeklyLimit } from '../../../src/effects/certificate/weekly-limit.ts'
import { openIssuedCertificates } from '../../../storage/issued-certificates.ts'
import { temporaryStorage } from '../../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const hourMs = 60 * 60_000
const weekMs = 7 * 24 * hourMs
const nowMs = Date.parse('2026-06-01T00:00:00.000Z')
const directoryUrl = 'https://ca.example.com/dir'
const settings = { acmeEmail: 'ada@example.com', acmeDirectory: directoryUrl, newPerWeek: 2 }

test('the limit can be used up immediately, and refills evenly over the week', () => {
  const fifty = Array.from({ length: 50 }, () => nowMs)
  deepEqual(allowance([], 50, nowMs), { remaining: 50, nextMs: nowMs })
  deepEqual(allowance(fifty.slice(1), 50, nowMs), { remaining: 1, nextMs: nowMs })
  deepEqual(allowance(fifty, 50, nowMs), { remaining: 0, nextMs: nowMs + weekMs / 50 })
  deepEqual(allowance(fifty, 50, nowMs + weekMs / 50).remaining, 1)
  deepEqual(allowance(fifty, 50, nowMs + weekMs / 2).remaining, 25)
  deepEqual(allowance(fifty, 50, nowMs + 2 * weekMs).remaining, 50)
  deepEqual(allowance(fifty, null, nowMs), { remaining: null, nextMs: nowMs })
})

test('a registered domain is one label below a public suffix, also for wildcards', () => {
  const cases = {
    'shop.example.com': 'example.com',
    'a.b.example.co.uk': 'example.co.uk',
    '*.apps.example.com': 'example.com',
    'ada.github.io': 'ada.github.io',
    'www.ada.github.io': 'ada.github.io',
    com: 'com',
  }
  for (const [host, domain] of Object.entries(cases)) equal(registeredDomainOf(host), domain, host)
})

test('a domain at its limit waits with a reason and a time; other domains do not', async (t) => {
  const storage = await temporaryStorage(t)
  const limit = openWeeklyLimit({ settings, storage })
  limit.issued('a.example.com', 'order-1')
  limit.issued('a.example.com', 'order-1')
  const open = limit.take('b.example.com')
  equal(open.problem, null)
  const pendingTake = limit.take('c.example.com')
  equal(pendingTake.problem?.code, 'acme_weekly_limit')
  open.release()
  equal(limit.take('c.example.com').problem, null)
  limit.issued('b.example.com', 'order-2')

  const issuedCertificates = openIssuedCertificates(`${storage.directory}/certificates`)
  const later = openWeeklyLimit({ settings, storage: { ...storage, issuedCertificates } })

  const { problem: trouble } = later.take('c.example.com')
  equal(trouble?.message, '2 new certificates of example.com in 7 days: the limit is 2 a week')
  const waitMs = Date.parse(trouble!.retryAt!) - Date.now()
  equal(Math.round(waitMs / hourMs), 84)
  equal(later.take('c.example.org').problem, null)
  equal(
    openWeeklyLimit({ settings: { ...settings, acmeDirectory: 'https://other.example.com' }, storage }).take(
      'c.example.com',
    ).problem,
    null,
  )
  deepEqual(
    later.list().map(({ domain, issued, remaining }) => [domain, issued, remaining]),
    [['example.com', 2, 0]],
  )
})

test('after a refusal for the domain of a host, other new hosts of the domain wait too', async (t) => {
  const storage = await temporaryStorage(t)
  const free = { ...settings, newPerWeek: null }
  const retryAt = new Date(Date.now() + 5 * hourMs).toISOString()
  const message = 'the CA requires a pause: too many certificates (50) already issued for "example.com"'
  openWeeklyLimit({ settings: free, storage }).refused('a.example.com', { message, retryAt })

  const later = openWeeklyLimit({ settings: free, storage })

  const { problem: trouble } = later.take('b.example.com')
  deepEqual([trouble?.message, trouble?.retryAt], [message, retryAt])
  deepEqual(later.list(), [
    { domain: 'example.com', issued: 0, remaining: null, nextOrderAt: retryAt, reason: message },
  ])
})

test('a limit for one host or for the account does not delay other hosts', async (t) => {
  const free = { ...settings, newPerWeek: null }
  const limit = openWeeklyLimit({ settings: free, storage: await temporaryStorage(t) })
  for (const message of [
    'too many failed authorizations (5) for "a.example.com" in the last 1h0m0s',
    'too many certificates (5) already issued for this exact set of identifiers in the last 168h0m0s',
    'too many new orders (300) from this account in the last 3h0m0s',
  ]) {
    limit.refused('a.example.com', { message, retryAt: null })
    const turn = limit.take('b.example.com')
    equal(turn.problem, null, message)
    turn.release()
  }
})

test('a limit for a wildcard or a domain’s own host does not delay other hosts', async (t) => {
  const limit = openWeeklyLimit({ settings, storage: await temporaryStorage(t) })
  for (const [host, message] of [
    ['*.example.com', 'too many failed authorizations (5) for "example.com" in the last 1h0m0s'],
    ['*.example.com', 'too many certificates already issued for exact set of domains: *.example.com'],
    ['example.com', 'too many failed authorizations (5) for "example.com" in the last 1h0m0s'],
  ] as const) {
    limit.refused(host, { message, retryAt: null })
    const turn = limit.take('b.example.com')
    equal(turn.problem, null, message)
    turn.release()
  }
})

test('a refusal for the domain, caused by its own host, delays its other hosts', async (t) => {
  const limit = openWeeklyLimit({ settings, storage: await temporaryStorage(t) })
  const message = 'too many certificates (50) already issued for "example.com" in the last 168h0m0s'
  limit.refused('example.com', { message, retryAt: null })
  equal(limit.take('b.example.com').problem?.message, message)
})

test('a truncated count does not stop the daemon', async (t) => {
  const directory = temporaryDirectory(t)
  writeFileSync(`${directory}/issued.json`, '{"issued":[{"hos')
  const issued = openIssuedCertificates(directory)
  deepEqual(issued.issued(directoryUrl), [])
  issued.record([
    { directoryUrl, order: '1', host: 'a.example.com', domain: 'example.com', at: new Date().toISOString() },
  ])
  match(JSON.stringify(openIssuedCertificates(directory).issued(directoryUrl)), /a\.example\.com/)
})
