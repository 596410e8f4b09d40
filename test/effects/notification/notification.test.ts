// Messages to people with real actors, a real store and real receivers: each arrives at least once, and one
// that may arrive twice says so.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { holdDirectory } from '../../../storage/hold.ts'
import { channelOf, noticeOf, secret, startNotifications } from '../../support/channels/notifications.ts'
import { cuts, hangs, startReceiver, status } from '../../support/channels/receivers.ts'
import { eventually, temporaryStorage } from '../../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

test('a message is committed once for each channel that wants it', async (t) => {
  const storage = await temporaryStorage(t)
  const { url, received } = await startReceiver(t)
  await storage.notificationChannels.put(channelOf({ url }))
  await storage.notificationChannels.put(channelOf({ name: 'quiet', url, enabled: false }))
  await storage.notificationChannels.put(channelOf({ name: 'codes', url, codes: ['other'] }))
  await storage.notificationChannels.put(channelOf({ name: 'services', url, services: ['svc-2'] }))
  await storage.notificationChannels.put(channelOf({ name: 'severe', url, min_severity: 'problem' }))
  const { notify, allReach, records } = startNotifications(t, storage)
  const notice = noticeOf({ severity: 'warning' })
  await Promise.all([notify(notice), notify(notice)])
  await allReach('delivered')
  await notify(notice)
  assert.deepEqual([records().length, received.length], [1, 1])
  for (const name of ['quiet', 'codes', 'services', 'severe']) {
    assert.deepEqual(records(`chn-${name}`), [], name)
  }
})

test('a webhook is signed, and every sending has the same id', async (t) => {
  const storage = await temporaryStorage(t)
  const { url, received } = await startReceiver(t, status(500, 'busy'), status(204))
  await storage.notificationChannels.put(channelOf({ url }))
  const { notify, allReach, supervisor, records } = startNotifications(t, storage)
  const notice = noticeOf()
  await notify(notice)
  const [waiting] = await allReach('waiting')
  assert.match(waiting!.error!, /answered 500: busy$/)
  await supervisor.send(waiting!.id, { type: 'retry', at: notice.at, by: 'Ada' })
  await allReach('delivered')
  assert.deepEqual(
    received.map(({ headers }) => headers['webhook-id']),
    [waiting!.id, waiting!.id],
  )
  for (const { body, headers } of received) {
    const payload = new Webhook(secret).verify(body, headers as Record<string, string>)
    assert.deepEqual(payload, {
      type: 'alert.raised',
      timestamp: notice.at,
      data: {
        ...notice,
        server: 'berth.example.com',
        url: 'https://berth.example.com/services/shop',
        may_be_repeat: false,
        summary: null,
      },
    })
  }
  assert.deepEqual(
    records()[0]!.attempts.map(({ response_status, error_code }) => [response_status, error_code]),
    [
      [500, 'message_rejected'],
      [204, null],
    ],
  )
})

test('a message that was being sent when the daemon died is sent again with its id and a mark', async (t) => {
  const storage = await temporaryStorage(t)
  const { url, received } = await startReceiver(t, hangs, status(204))
  await storage.notificationChannels.put(channelOf({ url }))
  const first = startNotifications(t, storage)
  await first.notify(noticeOf())
  await eventually('the receiver has it', () => received.length === 1)
  await first.supervisor.stop(1000)
  const second = startNotifications(t, storage)
  await second.supervisor.restore()
  const [record] = await second.allReach('delivered')
  const marks = received.map(({ body }) => JSON.parse(body).data.may_be_repeat)
  assert.deepEqual(marks, [false, true])
  assert.equal(received[0]!.headers['webhook-id'], received[1]!.headers['webhook-id'])
  assert.equal(record!.may_be_repeat, true)
})

test('a message that waits to be tried again keeps its time over a restart', async (t) => {
  const storage = await temporaryStorage(t)
  const { url, received } = await startReceiver(t, status(503))
  await storage.notificationChannels.put(channelOf({ url }))
  const first = startNotifications(t, storage)
  await first.notify(noticeOf())
  const [before] = await first.allReach('waiting')
  await first.supervisor.stop(1000)
  const second = startNotifications(t, storage)
  await second.supervisor.restore()
  const [after] = second.records()
  assert.deepEqual([after!.status, after!.next_attempt_at], ['waiting', before!.next_attempt_at])
  assert.equal(received.length, 1)
})

test('a message whose connection was cut may have arrived; a refused one has not', async (t) => {
  const storage = await temporaryStorage(t)
  const { url } = await startReceiver(t, cuts)
  await storage.notificationChannels.put(channelOf({ url }))
  await storage.notificationChannels.put(channelOf({ name: 'closed', url: 'http://127.0.0.1:1' }))
  const { notify, records } = startNotifications(t, storage)
  await notify(noticeOf())
  const markOf = async (channel: string) =>
    (await eventually(channel, () => records(channel).find(({ status }) => status === 'waiting')))
      .may_be_repeat
  assert.deepEqual([await markOf('chn-ops'), await markOf('chn-closed')], [true, false])
})

test('in a storm a channel gets four messages a minute, and nothing is lost', async (t) => {
  const storage = await temporaryStorage(t)
  const { url, received } = await startReceiver(t)
  await storage.notificationChannels.put(channelOf({ url }))
  const first = startNotifications(t, storage)
  const storm = Array.from({ length: 60 }, (_, index) =>
    noticeOf({ severity: index % 3 === 0 ? 'warning' : 'problem' }),
  )
  await Promise.all(storm.map((notice) => first.notify(notice)))
  await eventually('the first messages are sent', () => received.length === 4)
  const settled = () =>
    first.records().every(({ status }) => ['delivered', 'folded', 'queued'].includes(status))
  await eventually('the others wait or are folded', settled)
  const told = first.records().filter(({ status }) => status !== 'queued')
  const messages = told.reduce((sum, { status, messages }) => sum + (status === 'folded' ? 0 : messages), 0)
  assert.equal(messages, told.length)
  assert.equal(received.length, 4)
})

test('a held server sends nothing until it is activated', async (t) => {
  const directory = temporaryDirectory(t)
  await (await temporaryStorage(t, directory)).close()
  const facts = { restored_at: '2026-01-01T00:00:00.000Z', backup_at: '2026-01-01T00:00:00.000Z' }
  holdDirectory(directory, facts)
  const storage = await temporaryStorage(t, directory)
  const { url, received } = await startReceiver(t)
  await storage.notificationChannels.put(channelOf({ url }))
  const { notify, records, allReach } = startNotifications(t, storage)
  await notify(noticeOf())
  assert.deepEqual([records()[0]!.status, received.length], ['queued', 0])
  storage.hold.release()
  await allReach('delivered')
})
