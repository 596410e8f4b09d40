// Channels and deliveries over HTTP, with real actors, a real store and receivers on this machine.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import type { Channel, Delivery } from '../../../src/api/notification.ts'
import { noticeOf, startNotifications } from '../../support/channels/notifications.ts'
import { startReceiver, status } from '../../support/channels/receivers.ts'
import { joinActors, startChecked } from '../../support/http/checked-api.ts'
import { eventually } from '../../support/supervisor/supervision.ts'

async function start(t: TestContext) {
  const api = await startChecked(t)
  const daemon = startNotifications(t, api.storage)
  joinActors(api.context, daemon.supervisor, 'notification', 'ntf-')
  const add = async (body: object) => {
    const { status, body: added } = await api.call('POST', '/notification-channels', body)
    assert.equal(status, 201, JSON.stringify(added))
    return added as unknown as Channel
  }
  const list = async (query = '') =>
    (await api.call('GET', `/notification-deliveries${query}`)).body as unknown as Delivery[]
  return { ...api, ...daemon, add, list }
}

test('a webhook shows its secret once, and signs with it', async (t) => {
  const { call, add } = await start(t)
  const { url, received } = await startReceiver(t)
  const added = await add({ name: 'ops', kind: 'webhook', url: `${url}/hook?key=canary` })
  assert.match(added.secret!, /^whsec_/)
  const { body } = await call('GET', '/notification-channels/ops')
  assert.deepEqual(body, { ...added, secret: 'whsec_…', url: `${url}/hook?…` })
  const tested = (await call('POST', '/notification-channels/ops/test')).body as Delivery
  assert.deepEqual([tested.status, tested.event, tested.attempts.length], ['delivered', 'test', 1])
  assert.equal(received[0]!.path, '/hook?key=canary')
  assert.equal((await call('GET', `/actors/${tested.id}`)).body.service_name, 'ops')
  new Webhook(added.secret!).verify(received[0]!.body, received[0]!.headers as Record<string, string>)
  const listed = (await call('GET', '/notification-channels')).body as unknown as Channel[]
  assert.deepEqual([listed[0]!.last_delivery?.id, listed[0]!.last_delivery?.status], [tested.id, 'delivered'])
})

test('no response shows a secret of a channel again', async (t) => {
  const { call, add } = await start(t)
  await add({ name: 'chat', kind: 'slack', url: 'https://hooks.slack.com/services/T0/B0/canary' })
  await add({ name: 'phone', kind: 'ntfy', url: 'https://ntfy.sh', topic: 'ops', secret: 'canary' })
  const mail = { host: 'mail.test', from: 'a@b.test', to: ['c@d.test'], username: 'u', secret: 'canary' }
  const added = await add({ name: 'mail', kind: 'smtp', ...mail })
  assert.deepEqual([added.port, added.tls, added.secret], [587, 'starttls', '…'])
  await call('PATCH', '/notification-channels/mail', { secret: 'canary 2' })
  assert.ok(!(await call('GET', '/notification-channels')).text.includes('canary'))
})

test('a test that fails says what the receiver answered, and is not tried again', async (t) => {
  const { call, add } = await start(t)
  const { url } = await startReceiver(t, status(404, 'no_service'))
  await add({ name: 'chat', kind: 'slack', url: `${url}/services/T0/B0/canary` })
  const tested = (await call('POST', '/notification-channels/chat/test')).body as Delivery
  const host = new URL(url).host
  assert.deepEqual([tested.status, tested.error], ['failed', `${host} answered 404: no_service`])
  assert.deepEqual([tested.error_code, tested.attempts[0]!.response_status], ['message_rejected', 404])
})

test('settings that the kind does not have, lacks, or that leak a secret are refused', async (t) => {
  const { refused } = await start(t)
  const name = 'ops'
  for (const [body, path] of [
    [{ kind: 'webhook' }, 'url'],
    [{ kind: 'webhook', url: 'https://a.test', topic: 'x' }, 'topic'],
    [{ kind: 'webhook', url: 'https://a.test', secret: 'whsec_short' }, 'secret'],
    [{ kind: 'webhook', url: 'https://u:p@a.test' }, 'url'],
    [{ kind: 'webhook', url: 'file:///etc/passwd' }, 'url'],
    [{ kind: 'slack', url: 'http://hooks.slack.com/services/x' }, 'url'],
    [{ kind: 'ntfy', url: 'https://ntfy.sh', topic: 'a/b' }, 'topic'],
    [{ kind: 'smtp', host: 'a.test', from: 'a@b', to: ['c@d'], username: 'u' }, 'secret'],
    [
      { kind: 'smtp', host: 'a.test', tls: 'none', from: 'a@b', to: ['c@d'], username: 'u', secret: 'x' },
      'tls',
    ],
    [{ kind: 'smtp', host: 'a.test', from: 'a@b\nBcc: x@y', to: ['c@d'] }, 'from'],
    [{ kind: 'webhook', url: 'https://a.test', services: ['nothing'] }, 'services'],
  ] as const) {
    const [code, problem, field] = await refused('POST', '/notification-channels', { name, ...body })
    assert.deepEqual([code, problem, String(field).split(' ')[0]], [400, 'invalid_request', path])
  }
})

test('filters and settings are changed and cleared; names are unique', async (t) => {
  const { call, add, refused, create } = await start(t)
  await create({ name: 'shop', type: 'web_service', image: 'localhost/app:1' })
  const url = 'https://a.test/hook'
  const added = await add({ name: 'ops', kind: 'webhook', url, services: ['shop'], codes: ['deploy_failed'] })
  assert.deepEqual(
    [added.services, added.codes, added.min_severity],
    [['shop'], ['deploy_failed'], 'warning'],
  )
  await add({ name: 'other', kind: 'webhook', url })
  assert.deepEqual(await refused('PATCH', '/notification-channels/other', { name: 'ops' }), [
    409,
    'name_taken',
  ])
  const changes = { name: 'ops-2', services: [], codes: [], min_severity: 'problem', enabled: false }
  const { body } = await call('PATCH', `/notification-channels/${added.id}`, changes)
  const { name, services, codes, min_severity, enabled } = body
  assert.deepEqual(
    { name, services, codes, min_severity, enabled },
    { ...changes, services: null, codes: null },
  )
})

test('deleting a channel cancels the messages that wait', async (t) => {
  const { call, add, notify, records, storage } = await start(t)
  const { url } = await startReceiver(t, status(500))
  const { id } = await add({ name: 'ops', kind: 'webhook', url })
  await notify(noticeOf())
  await eventually('it waits', () => records(id)[0]?.status === 'waiting')
  assert.equal((await call('DELETE', '/notification-channels/ops')).status, 204)
  assert.equal(records(id)[0]!.status, 'canceled')
  assert.equal(storage.notificationChannels.get(id), null)
  assert.equal((await call('GET', '/notification-channels/ops')).status, 404)
})

test('deliveries are listed by channel and state, and sent again under their id', async (t) => {
  const { call, add, notify, list, records } = await start(t)
  const { url, received } = await startReceiver(t, status(500), status(204))
  const { id } = await add({ name: 'ops', kind: 'webhook', url })
  await notify(noticeOf())
  await eventually('it waits', () => records(id)[0]?.status === 'waiting')
  const [waiting] = await list('?channel=ops&state=waiting')
  assert.deepEqual((await list('?state=delivered')).length, 0)
  const path = `/notification-deliveries/${waiting!.id}`
  assert.equal((await call('POST', `${path}/redeliver`)).status, 202)
  await eventually('it is delivered', () => records(id)[0]?.status === 'delivered')
  const again = (await call('POST', `${path}/redeliver`)).body as Delivery
  await eventually('it is sent again', () => received.length === 3)
  assert.deepEqual([again.message_id, again.may_be_repeat], [waiting!.message_id, true])
  assert.deepEqual(
    received.map(({ headers }) => headers['webhook-id']),
    Array.from({ length: 3 }, () => waiting!.id),
  )
  assert.equal((await call('GET', `${path}/history`)).status, 200)
  assert.equal((await list('?limit=1')).length, 1)
})
