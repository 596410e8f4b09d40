// Certificates over HTTP: what there is, why not more, and the next attempt at once unless the CA says no.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { KindName } from '../../../machines/index.ts'
import { catalogue } from '../../../machines/index.ts'
import type { Certificate } from '../../../src/api/certificate.ts'
import { Supervisor } from '../../../src/supervisor/supervisor.ts'
import { startChecked } from '../../support/http/checked-api.ts'
import { forever } from '../../support/machines/machine-run.ts'
import { eventually, silentLogger } from '../../support/supervisor/supervision.ts'

const validity = {
  notBefore: '2026-01-01T00:00:00.000Z',
  notAfter: '2099-01-01T00:00:00.000Z',
  directoryUrl: 'https://ca.example.com/dir',
}

/** What a host comes to, as its name says. */
function problemOf(host: string) {
  const problem = { message: `${host} is not ready`, hint: 'wait', retryAt: null }
  if (host.startsWith('elsewhere')) return { ...problem, code: 'host_elsewhere' }
  const retryAt = new Date(Date.now() + 7200_000).toISOString()
  return host.startsWith('limited') ? { ...problem, code: 'acme_rate_limited', retryAt } : null
}

/** An API whose certificates run by their chart, in a world that does as the names of the hosts say. */
async function start(t: TestContext) {
  const api = await startChecked(t)
  const { storage } = api
  const { certificate } = catalogue
  const supervisor = new Supervisor({ storage, catalogue: { certificate }, logger: silentLogger })
  const now = () => new Date().toISOString()
  supervisor.provide({
    certificate: {
      checkHost: async ({ host }: { host: string }) => ({
        at: now(),
        isRouted: true,
        trouble: problemOf(host),
      }),
      obtainCertificate: ({ host }: { host: string }, signal: AbortSignal) =>
        host.startsWith('slow') ? forever(signal) : Promise.resolve({ at: now(), validity, trouble: null }),
      installCertificate: async () => ({ at: now() }),
      keepWatch: (_: object, signal: AbortSignal) => forever(signal),
      releaseCertificate: async () => ({ at: now() }),
    },
  })
  t.after(() => supervisor.stop(1000))
  api.context.actors = supervisor as never

  async function add(serviceId: string | null, host: string): Promise<string> {
    const id = storage.ids.newId('crt')
    await supervisor.spawn('certificate' as KindName, id, { id, serviceId, host, at: now() })
    await eventually(`${host} to rest`, () => {
      const { phase } = storage.actors.record(id) as unknown as Certificate
      return phase === (host.startsWith('slow') ? 'ordering' : null)
    })
    return id
  }
  const list = async () => (await api.call('GET', '/certificates')).body as unknown as Certificate[]
  return { ...api, add, list }
}

test('certificates are listed by host with all details, for every owner', async (t) => {
  const { add, call, create, list } = await start(t)
  const { id } = await create({ name: 'shop' })
  assert.deepEqual(await list(), [])

  await add(id, 'shop.example.com')
  await add(null, 'berth.example.com')
  await add(id, 'elsewhere.example.com')

  const rows = await list()
  const facts = rows.map(({ host, service_id, status, error, not_after }) => [
    host,
    service_id,
    status,
    error,
    not_after,
  ])
  assert.deepEqual(facts, [
    ['berth.example.com', null, 'valid', null, validity.notAfter],
    ['elsewhere.example.com', id, 'waiting', 'elsewhere.example.com is not ready', null],
    ['shop.example.com', id, 'valid', null, validity.notAfter],
  ])
  const history = (await call('GET', `/certificates/${rows[0]!.id}/history`)).body as unknown as {
    state: string
  }[]
  assert.deepEqual(
    history.map(({ state }) => state),
    ['checking', 'ordering', 'installing', 'valid'],
  )
})

test('a retry starts the next attempt, unless one is running', async (t) => {
  const { add, call, storage } = await start(t)
  const waiting = await add(null, 'elsewhere.example.com')
  const working = await add(null, 'slow.example.com')

  const first = await call('POST', `/certificates/${waiting}/retry`)
  const second = await call('POST', `/certificates/${working}/retry`)

  assert.deepEqual([first.status, first.body.phase], [202, 'checking'])
  assert.deepEqual([second.status, second.body.phase], [202, 'ordering'])
  await eventually('the second attempt', () => storage.actors.record(waiting)?.attempts === 2)
})

test('a retry with an Idempotency-Key is one attempt', async (t) => {
  const { add, call, storage } = await start(t)
  const id = await add(null, 'elsewhere.example.com')
  const headers = { 'idempotency-key': 'again' }

  for (const _ of [1, 2, 3]) {
    assert.equal((await call('POST', `/certificates/${id}/retry`, undefined, { headers })).status, 202)
    await eventually('it to wait again', () => storage.actors.record(id)?.phase === null)
  }

  assert.equal(storage.actors.record(id)?.attempts, 2)
})

test('a retry is refused for a valid certificate, and during a pause of the CA', async (t) => {
  const { add, call } = await start(t)
  const valid = await add(null, 'shop.example.com')
  const limited = await add(null, 'limited.example.com')

  const one = await call('POST', `/certificates/${valid}/retry`)
  const other = await call('POST', `/certificates/${limited}/retry`)

  assert.deepEqual([one.status, one.body.code], [409, 'conflict'])
  assert.match(
    String(one.body.detail),
    /^the certificate of shop\.example\.com is valid: it is renewed at 20/,
  )
  assert.deepEqual([other.status, other.body.code], [429, 'slow_down'])
  const seconds = Number(other.headers.get('retry-after'))
  assert.ok(seconds > 7000 && seconds <= 7200, String(seconds))
})

test('a parked certificate is retried from its state', async (t) => {
  const { add, call, storage, list } = await start(t)
  const id = await add(null, 'elsewhere.example.com')
  await storage.actors.park(id, 'a bug', new Date().toISOString())
  assert.deepEqual(
    (await list()).map(({ status, error }) => [status, error]),
    [['failed', 'internal: a bug']],
  )

  const { status } = await call('POST', `/certificates/${id}/retry`)

  assert.equal(status, 202)
  assert.deepEqual(
    [...storage.actors.active('certificate')].map((actor) => actor.id),
    [id],
  )
})

test('the authority is shown with its wildcard', async (t) => {
  const api = await start(t)
  const authority = {
    directory_url: validity.directoryUrl,
    wildcard: '*.apps.example.com',
    wildcard_by: 'cloudflare' as const,
  }
  api.context.certificateAuthority = () => authority

  const { status, body } = await api.call('GET', '/certificate-authority')

  assert.deepEqual([status, body], [200, authority])
})
