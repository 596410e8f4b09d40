// Alerts over HTTP and in the command line, with real actors.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { AlertInput } from '../../../machines/alert.ts'
import type { Alert, AlertRule } from '../../../src/api/alert.ts'
import { runBerth, startBerth } from '../../support/cli/berth.ts'
import { startChecked } from '../../support/http/checked-api.ts'
import { token } from '../../support/http/http-context.ts'
import { serviceRow } from '../../support/storage/store-fixtures.ts'
import { instant as at, eventually } from '../../support/supervisor/supervision.ts'

async function start(t: TestContext) {
  const api = await startChecked(t)
  const { context, storage } = api
  await storage.services.create(serviceRow())
  const raise = async (changes: Partial<AlertInput> = {}) => {
    const id = storage.ids.newId('alr')
    const subject = { kind: 'service', id: 'svc-1', name: 'shop' }
    const facts = { severity: 'problem', title: 'A deploy of shop failed', body: 'berth why dep-1' }
    const events = { count: 1, number: null, calmMs: 0, fades: false, flaps: 0, link: null }
    const owner = { subject, serviceId: 'svc-1', rule: 'deploy_failed' }
    await context.actors.spawn('alert', id, { id, at, ...facts, ...events, ...owner, ...changes })
    await eventually('the message', () => storage.actors.getOrNull(id)?.revision !== 1)
    return id
  }
  const end = async (id: string) => {
    const clear = { type: 'clear', at, number: null, reason: null, isFinal: true }
    await context.actors.send(id, clear)
    await eventually('its end', () => storage.actors.get(id)?.final)
  }
  const list = async (query = '') => {
    const { body, headers } = await api.call('GET', `/alerts?${query}`)
    const next = /[?&](before=[\w-]+)/.exec(headers.get('link') ?? '')?.[1]
    return { ids: (body as unknown as Alert[]).map(({ id }) => id), next }
  }
  const rules = async () => (await api.call('GET', '/alert-rules')).body as unknown as AlertRule[]
  const rule = async (code: string) => (await rules()).find((one) => one.code === code)!
  const berth = (...args: string[]) =>
    runBerth(t, args, { env: { BERTH_SERVER: api.url, BERTH_TOKEN: token } })
  const running = (...args: string[]) =>
    startBerth(t, args, { env: { BERTH_SERVER: api.url, BERTH_TOKEN: token } })
  return { ...api, raise, end, list, rule, berth, running }
}

test('alerts are listed by their state and service, in pages', async (t) => {
  const { raise, end, list } = await start(t)
  const ended = await raise()
  await end(ended)
  const first = await raise()
  const host = await raise({ serviceId: null, rule: 'host_cpu' })

  assert.deepEqual((await list()).ids, [host, first])
  assert.deepEqual((await list('service=shop')).ids, [first])
  assert.deepEqual((await list('state=recovered')).ids, [ended])
  const page = await list('state=all&limit=2')
  assert.deepEqual(page.ids, [host, first])
  assert.deepEqual((await list(`state=all&limit=2&${page.next}`)).ids, [ended])
  const open = await list('limit=1')
  assert.deepEqual((await list(`limit=1&${open.next}`)).ids, [first])
})

test('alerts --follow shows what is open, and then each change of state once', async (t) => {
  const { raise, end, call, running } = await start(t)
  const early = running('alerts', '-f')
  await eventually('the notice', () => early.stderr.includes('nothing is wrong'))
  const first = await raise()
  await early.shows(first)
  early.interrupt()
  assert.match((await early.ended()).stdout, /^ID {2,}SEVERITY .*\nalr-.*raised/)
  const following = running('alerts', 'shop', '-f')
  await following.shows(first)
  await raise({ serviceId: null, rule: 'host_cpu', subject: { kind: 'host', id: 'host', name: 'the host' } })
  const second = await raise()
  await following.shows(second)
  await call('POST', `/alerts/${first}/acknowledge`)
  await following.shows('acknowledged')
  await end(second)
  await following.shows('recovered')
  following.interrupt()

  const { code, stdout } = await following.ended()
  const cells = stdout.trim().split('\n')
  const states = cells.map((line) => line.split(/ +/).filter((_, place) => place === 0 || place === 2))
  assert.deepEqual(states, [
    ['ID', 'STATE'],
    [first, 'raised'],
    [second, 'raised'],
    [first, 'acknowledged'],
    [second, 'recovered'],
  ])
  assert.equal(code, 130)
})

test('an alert is acknowledged once, and not after its end', async (t) => {
  const { call, raise, end, url } = await start(t)
  const id = await raise()
  for (const _ of [1, 2]) {
    const { status, body } = await call('POST', `/alerts/${id}/acknowledge`)
    assert.deepEqual([status, body.status, body.acknowledged_by], [200, 'acknowledged', 'the server token'])
  }
  const metrics = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
  assert.match(await metrics.text(), /berth_alerts\{state="acknowledged"\} 1/)
  await end(id)
  const late = await raise()
  await end(late)
  assert.equal((await call('POST', `/alerts/${late}/acknowledge`)).body.code, 'conflict')
  assert.equal((await call('GET', '/alerts/dep-1')).body.code, 'not_found')
})

test('a rule has a threshold and can be turned off, for all or for one', async (t) => {
  const { call, rule, storage } = await start(t)
  const change = (code: string, body: object) => call('PATCH', `/alert-rules/${code}`, body)

  await change('service_cpu', { threshold: 95 })
  await change('service_cpu', { subject: 'shop', enabled: false })
  const { enabled, threshold, default_threshold, exceptions } = await rule('service_cpu')
  assert.deepEqual([enabled, threshold, default_threshold], [true, 95, 90])
  assert.deepEqual(exceptions, [{ subject: 'shop', enabled: false, threshold: 95 }])
  await change('service_cpu', { subject: 'shop', reset: true })
  assert.deepEqual((await rule('service_cpu')).exceptions, [])
  assert.equal(storage.alerts.rule('service_cpu', 'svc-1'), null)

  assert.equal((await change('service_cpu', { threshold: 101 })).body.code, 'invalid_request')
  assert.equal((await change('deploy_failed', { threshold: 1 })).body.code, 'invalid_request')
  assert.equal((await change('unknown', { enabled: true })).body.code, 'not_found')
})

test('turning a rule off ends its open alerts', async (t) => {
  const { call, raise, list, storage } = await start(t)
  const failed = await raise()
  const other = await raise({ rule: 'job_failed' })
  await call('PATCH', '/alert-rules/deploy_failed', { subject: 'shop', enabled: false })
  await eventually('the end of its alert', () => storage.actors.get(failed)?.final)
  assert.deepEqual((await list()).ids, [other])
})

test('a token that is limited to a service sees and acknowledges only its alerts', async (t) => {
  const { raise, storage, call } = await start(t)
  const dates = { created_at: at, expires_at: null, last_used_at: null }
  const row = { id: 'tok-1', name: 'ci', role: 'deploy' as const, hint: 'x', services: ['svc-1'], ...dates }
  await storage.commit((commit) => storage.tokens.insert(commit, 'bth_limited', row))
  const own = await raise()
  const host = await raise({ serviceId: null })
  const limited = { token: 'bth_limited' }
  const { body } = await call('GET', '/alerts', undefined, limited)
  assert.deepEqual(
    (body as unknown as Alert[]).map(({ id }) => id),
    [own],
  )
  assert.equal((await call('POST', `/alerts/${own}/acknowledge`, undefined, limited)).status, 200)
  assert.equal((await call('POST', `/alerts/${host}/acknowledge`, undefined, limited)).status, 403)
  assert.equal((await call('PATCH', '/alert-rules/host_cpu', {}, limited)).status, 403)
})

test('the command line lists, shows and acknowledges alerts, and changes rules', async (t) => {
  const { berth, raise } = await start(t)
  assert.equal((await berth('alerts')).stderr, 'nothing is wrong\n')
  const id = await raise()
  assert.match(
    (await berth('alerts')).stdout,
    new RegExp(`${id} +problem +raised +1 .*A deploy of shop failed`),
  )
  assert.match((await berth('status', 'shop')).stdout, /1 open alert, 1 not acknowledged/)
  assert.match((await berth('alerts', 'show', id)).stdout, /berth why dep-1/)
  assert.match((await berth('alerts', 'ack', id)).stderr, /acknowledged/)
  assert.match((await berth('alerts', 'set', 'host_disk', '--threshold', '95')).stderr, /host_disk: 95 %/)
  assert.match((await berth('alerts', 'set', 'host_disk', 'off')).stderr, /host_disk: off/)
  assert.match((await berth('alerts', 'rules')).stdout, /host_disk +off/)
  assert.equal((await berth('alerts', 'set', 'host_disk')).code, 2)
  assert.equal((await berth('alerts', 'set', 'host_disk', 'maybe')).code, 2)
  assert.match((await berth('alerts', 'set', 'nonsense', 'off')).stderr, /no such rule/)
})
