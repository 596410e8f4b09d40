// `berth certs`: what a person reads of their certificates, and the next attempt at once.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Certificate } from '../../../src/api/certificate.ts'
import { startFakeBerth } from '../../support/cli/berth.ts'
import { type FakeResponse, problem } from '../../support/cli/fake-server.ts'

const inDays = (days: number) => new Date(Date.now() + (days + 0.5) * 86_400_000).toISOString()

function certificate(host: string, changes: Partial<Certificate> = {}): Certificate {
  return {
    id: `crt-${host}`,
    service_id: 'svc-1',
    host,
    status: 'waiting',
    phase: null,
    error: null,
    hint: null,
    not_before: null,
    not_after: null,
    next_attempt_at: null,
    renews_at: null,
    attempts: 1,
    created_at: inDays(-1),
    revision: 1,
    by: null,
    ...changes,
  }
}

const hint = 'set the A (or AAAA) record of blog.example.com to 203.0.113.10'
const certificates = [
  certificate('blog.example.com', {
    error: 'blog.example.com has no address in DNS',
    hint,
    next_attempt_at: inDays(3),
  }),
  certificate('new.example.com', { status: 'ordering', phase: 'ordering' }),
  certificate('old.example.com', {
    status: 'expired',
    not_after: inDays(-5),
    error: 'CA cannot be reached',
    next_attempt_at: inDays(3),
  }),
  certificate('shop.example.com', { status: 'valid', not_after: inDays(60), renews_at: inDays(30) }),
]

const noAuthority = problem(404, 'not_found', 'there is no such path')

async function start(
  t: TestContext,
  retried: FakeResponse = { status: 202, body: certificates[1] },
  authority: FakeResponse = noAuthority,
) {
  const { berth, server } = await startFakeBerth(t, ({ method, path }) => {
    if (path.endsWith('/certificate-authority')) return authority
    return method === 'GET' ? { body: certificates } : retried
  })
  return { berth, asked: server.requests }
}

test('certs shows each host, its expiry, the next step and any problem', async (t) => {
  const { berth } = await start(t)

  const { code, stdout, stderr } = await berth('certs')

  assert.equal(code, 0)
  assert.equal(
    stdout,
    [
      'HOST              STATUS    EXPIRES  NEXT ATTEMPT   REASON',
      'blog.example.com  waiting            in 3d          blog.example.com has no address in DNS',
      'new.example.com   ordering           now: ordering',
      'old.example.com   expired   4d ago   in 3d          CA cannot be reached',
      'shop.example.com  valid     in 60d   in 30d\n',
    ].join('\n'),
  )
  assert.equal(stderr, `   ${hint}\n`)
})

test('certs shows the wildcard that covers all names below it', async (t) => {
  const body = {
    directory_url: 'https://ca.example.com/dir',
    wildcard: '*.apps.example.com',
    wildcard_by: 'hook',
  }
  const { berth } = await start(t, undefined, { body })

  const { code, stderr } = await berth('certs')

  assert.deepEqual(
    [code, stderr.split('\n').slice(1)],
    [0, ['   *.apps.example.com covers all names below it, by DNS challenge (hook)', '']],
  )
})

test('without a certificate it prints how to get one', async (t) => {
  const { berth } = await startFakeBerth(t, () => ({ body: [] }))
  const { code, stdout, stderr } = await berth('certs')
  assert.deepEqual([code, stdout], [0, ''])
  assert.match(stderr, /^no certificates: .*--acme-email/)
})

test('certs retry requests a certificate for that host, in any spelling', async (t) => {
  const { berth, asked } = await start(t)

  const { code, stderr } = await berth('certs', 'retry', 'Blog.Example.com')

  assert.equal(code, 0)
  assert.equal(stderr, ' ✔ the certificate of blog.example.com is being retried\n   next: berth certs\n')
  assert.deepEqual(
    [asked.at(-1)?.method, asked.at(-1)?.path],
    ['POST', '/api/v1/certificates/crt-blog.example.com/retry'],
  )
})

test('certs retry for an unknown host, or during the CA’s pause, prints the reason', async (t) => {
  const detail = 'CA requires a pause: the next attempt is at 2099-01-01T00:00:00.000Z'
  const { berth } = await start(t, problem(409, 'conflict', detail))

  const unknown = await berth('certs', 'retry', 'nobody.example.com')
  const held = await berth('certs', 'retry', 'old.example.com')

  assert.equal(unknown.code, 3)
  assert.match(unknown.stderr, /nobody\.example\.com has no certificate\n {3}berth certs lists them/)
  assert.notEqual(held.code, 0)
  assert.match(held.stderr, /CA requires a pause/)
})
