// The change feed as an event stream, over a real store and real sockets.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openStream } from '../support/event-stream.ts'
import { type Api, startApi } from '../support/http-context.ts'

const change = (api: Api, name: string) => api.call('POST', '/api/v1/services', { body: { name } })

test('the change feed says ready, then what every commit changed, and holds nothing else', async (t) => {
  const api = await startApi(t)
  const stream = await openStream(t, `${api.url}/api/v1/events`)
  const head = api.storage.changes.head()

  assert.deepEqual(await stream.next(), { id: String(head), event: 'ready', data: '{}' })
  const { body } = await change(api, 'web')
  const { id, event, data } = (await stream.next())!

  assert.deepEqual([id, event], [String(head + 1), 'change'])
  const { id: serviceId } = body
  assert.deepEqual(JSON.parse(data), {
    kind: 'service',
    id: serviceId,
    service_id: serviceId,
    status: 'not_deployed',
    revision: 1,
  })
})

test('the change feed resumes after Last-Event-ID, and resets when that is unknown', async (t) => {
  const api = await startApi(t)
  const start = api.storage.changes.head()
  for (const name of ['a', 'b', 'c']) await change(api, name)

  const resumed = await openStream(t, `${api.url}/api/v1/events`, { 'last-event-id': String(start + 1) })
  const events = [await resumed.next(), await resumed.next(), await resumed.next()]
  assert.deepEqual(
    events.map((event) => [event?.event, event?.id]),
    [
      ['ready', String(start + 1)],
      ['change', String(start + 2)],
      ['change', String(start + 3)],
    ],
  )

  const lost = await openStream(t, `${api.url}/api/v1/events`, { 'last-event-id': '99999' })
  await lost.next()
  assert.deepEqual(await lost.next(), { id: String(start + 3), event: 'reset', data: '{}' })
  await change(api, 'd')
  assert.equal((await lost.next())?.id, String(start + 4))
})
