// The normal form of domains, invalid domains, and the hosts and URLs of a service.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hostsOf, isPublicHost, normalizeDomain, type Publication, urlOf } from '../../src/domain/domains.ts'
import { Failure } from '../../src/errors.ts'

const normal: Record<string, string> = {
  'shop.example.com': 'shop.example.com',
  'Shop.Example.COM.': 'shop.example.com',
  '  shop.example.com\n': 'shop.example.com',
  'münchen.example': 'xn--mnchen-3ya.example',
  'XN--MNCHEN-3YA.example': 'xn--mnchen-3ya.example',
  'shop。example。com': 'shop.example.com',
  'a.b': 'a.b',
  '1a.2b': '1a.2b',
  'ab--c.example': 'ab--c.example',
  'shop.localhost': 'shop.localhost',
  [`${'a'.repeat(63)}.example`]: `${'a'.repeat(63)}.example`,
}

for (const [typed, domain] of Object.entries(normal)) {
  test(`${JSON.stringify(typed)} is the domain ${domain}`, () => {
    assert.equal(normalizeDomain(typed), domain)
  })
}

const longest = `${'a'.repeat(49)}.`.repeat(5)

/** Invalid domains, with the expected hint. */
const refused: Record<string, string> = {
  '': 'such as shop.example.com',
  ' . ': 'such as shop.example.com',
  'https://shop.example.com/': 'write shop.example.com',
  'https://user:secret@Shop.example.com:8443/a?b#c': 'write shop.example.com',
  'shop.example.com:8080': 'write shop.example.com',
  'shop.example.com/': 'write shop.example.com',
  'mail@shop.example.com': 'write shop.example.com',
  'http://localhost:3000': 'such as shop.example.com',
  'https://[::1]/': 'such as shop.example.com',
  'http://': 'such as shop.example.com',
  'shop.example.com?': 'write shop.example.com',
  '*.example.com': 'add each host by its own name',
  '10.0.0.1': 'such as shop.example.com',
  '10.0.0.1.': 'such as shop.example.com',
  '0x7f.1': 'such as shop.example.com',
  '1.2.3': 'such as shop.example.com',
  '::1': 'such as shop.example.com',
  '[::1]': 'such as shop.example.com',
  localhost: 'such as shop.example.com',
  'shop..example.com': 'such as shop.example.com',
  'shop.example.com..': 'such as shop.example.com',
  '.example.com': 'such as shop.example.com',
  '-shop.example.com': 'such as shop.example.com',
  'shop-.example.com': 'such as shop.example.com',
  'my_shop.example.com': 'such as shop.example.com',
  'shop.*.com': 'such as shop.example.com',
  'a,b.example.com': 'such as shop.example.com',
  'shop example.com': 'such as shop.example.com',
  'shop%2eexample.com': 'such as shop.example.com',
  'shop\\example.com': 'such as shop.example.com',
  'shop\0.example.com': 'such as shop.example.com',
  'xn--a.example': 'such as shop.example.com',
  [`${'a'.repeat(64)}.example`]: 'such as shop.example.com',
  [`${longest}abcd`]: 'such as shop.example.com',
  [`${'a.'.repeat(1000)}com`]: 'such as shop.example.com',
}

for (const [typed, hint] of Object.entries(refused)) {
  test(`${JSON.stringify(typed).slice(0, 60)} is not a domain: ${hint}`, () => {
    assert.throws(
      () => normalizeDomain(typed),
      (error: Failure) => {
        assert.deepEqual([error.code, error.hint], ['invalid_request', hint])
        return !error.message.includes('secret')
      },
    )
  })
}

test('a domain has at most 253 characters', () => {
  assert.equal(normalizeDomain(`${longest}abc.`).length, 253)
})

/** The domain, or null for an invalid one. Rethrows any other failure. */
function normalOrNull(text: string): string | null {
  try {
    return normalizeDomain(text)
  } catch (error) {
    if (error instanceof Failure && error.code === 'invalid_request') return null
    throw error
  }
}

test('for any input a normalized domain is stable and contains no special characters', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.domain(),
    fc.tuple(fc.string({ unit: 'grapheme', minLength: 1 }), fc.domain()).map((parts) => parts.join('.')),
    fc.webUrl(),
    fc.ipV4(),
    fc.ipV6(),
  )
  let count = 0
  fc.assert(
    fc.property(texts, (text) => {
      const domain = normalOrNull(text)
      if (domain === null) return
      count++
      assert.equal(normalizeDomain(domain), domain)
      assert.match(domain, /^(?=.{3,253}$)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})+$/)
      assert.equal(new URL(`http://${domain}/`).hostname, domain)
    }),
    { numRuns: 2000 },
  )
  assert.ok(count > 100, `${count} of them were domains`)
})

test('only a name that is public on the internet is a public host', () => {
  const local = ['localhost', 'shop.localhost', 'nas.local', 'a.test', 'db.internal', 'pi.home.arpa', 'x.lan']
  const others = ['shop', '10.0.0.1', '::1', '[::1]', 'SHOP.LOCALHOST', 'shop.localhost.', '']

  assert.deepEqual([...local, ...others].filter(isPublicHost), [])
  const known = ['shop.example.com', 'Shop.Example.com.', 'localhost.com', 'mylan.de', 'arpa.net']
  assert.deepEqual(known.filter(isPublicHost), known)
})

const shop = { name: 'shop', type: 'web_service', custom_domains: ['shop.example.com', 'www.example.com'] }

function publicationWith(changes: Partial<Publication['edge']>, ...certified: string[]): Publication {
  const edge = { mode: 'host' as const, httpPort: 80, httpsPort: 443, dashboardHost: null, ...changes }
  return { baseDomain: 'localhost', edge, hasCertificate: (host) => certified.includes(host) }
}

test('the hosts of a public service start with its default one; others have none', () => {
  assert.deepEqual(hostsOf(shop, 'apps.example.com'), [
    'shop.apps.example.com',
    'shop.example.com',
    'www.example.com',
  ])
  assert.deepEqual(hostsOf({ ...shop, type: 'static_site' }, 'localhost').length, 3)
  for (const type of ['private_service', 'background_worker', 'cron_job']) {
    assert.deepEqual(hostsOf({ ...shop, type }, 'localhost'), [])
  }
})

test('a URL uses the first host with a certificate, else the default one by http', () => {
  const unusual = { httpPort: 8080, httpsPort: 8443 }

  assert.equal(urlOf(shop, publicationWith({})), 'http://shop.localhost')
  assert.equal(urlOf(shop, publicationWith(unusual)), 'http://shop.localhost:8080')
  const certified = ['www.example.com', 'shop.example.com']
  assert.equal(urlOf(shop, publicationWith({}, ...certified)), 'https://shop.example.com')
  assert.equal(urlOf(shop, publicationWith(unusual, ...certified)), 'https://shop.example.com:8443')
  assert.equal(urlOf(shop, publicationWith({ mode: 'off' }, ...certified)), null)
  assert.equal(urlOf({ ...shop, type: 'private_service' }, publicationWith({})), null)
})
