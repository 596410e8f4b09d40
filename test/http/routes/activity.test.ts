// The activity over HTTP: every transition, under the number of its change in the feed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Activity } from '../../../src/api/activity.ts'
import { startChecked } from '../../support/http/checked-api.ts'
import { serviceRow, transitionOf } from '../../support/storage/store-fixtures.ts'
import { instant as at } from '../../support/supervisor/supervision.ts'

test('the activity has what the feed reported, newest first, in pages and with filters', async (t) => {
  const { call, storage } = await startChecked(t)
  await storage.services.create(serviceRow())
  const changes: unknown[] = []
  storage.changes.subscribe(({ number, transition }) => transition && changes.unshift([number, transition]))
  await storage.actors.create(transitionOf({ id: 'dep-1' }))
  await storage.actors.create(transitionOf({ id: 'bak-1', kind: 'backup', service_id: null }))
  await storage.actors.advance(transitionOf({ id: 'dep-1', revision: 2 }, { status: 'live' }))
  const read = async (query: string) => {
    const { body, headers } = await call('GET', `/activity?${query}`)
    const next = /[?&](before=\d+)/.exec(headers.get('link') ?? '')?.[1]
    return { entries: body as unknown as Activity[], next }
  }

  const { entries } = await read('')
  assert.deepEqual(
    entries.map(({ number, service_id: _, service_name: __, ...transition }) => [number, transition]),
    changes,
  )
  assert.deepEqual(
    entries.map(({ actor_id, service_id, service_name }) => [actor_id, service_id, service_name]),
    [
      ['dep-1', 'svc-1', 'shop'],
      ['bak-1', null, null],
      ['dep-1', 'svc-1', 'shop'],
    ],
  )
  const first = await read('limit=2')
  const second = await read(`limit=2&${first.next}`)
  assert.deepEqual([...first.entries, ...second.entries], entries)
  assert.equal(second.next, undefined)
  const revisions = async (query: string) => (await read(query)).entries.map(({ revision }) => revision)
  assert.deepEqual(await revisions('service=shop'), [2, 1])
  assert.deepEqual(await revisions('service=svc-none'), [])
  assert.deepEqual(await revisions('kind=backup'), [1])
})

test('what happened to a deleted service stays, under its last name', async (t) => {
  const { call, storage } = await startChecked(t)
  await storage.services.create(serviceRow())
  const removal = { id: 'svc-1', kind: 'service-removal' }
  await storage.actors.create(transitionOf(removal, { service: { deleting: true } }))
  await storage.services.remove('svc-1')
  await storage.actors.advance(transitionOf({ ...removal, revision: 2, final: true }))

  const entries = (await call('GET', '/activity?service=svc-1')).body as unknown as Activity[]
  assert.deepEqual(
    entries.map(({ revision, service_name }) => [revision, service_name]),
    [
      [2, 'shop'],
      [1, 'shop'],
    ],
  )
})

test('parking, retrying and discarding are in the activity', async (t) => {
  const { call, storage } = await startChecked(t)
  const created = transitionOf({ id: 'dep-1' })
  await storage.actors.create(created)
  await storage.actors.park('dep-1', 'a bug', at)
  const { record, service } = created
  await storage.actors.unpark('dep-1', { record, state: 'queued', service, event: null, at })
  await storage.actors.park('dep-1', 'a bug', at)
  await storage.actors.discard('dep-1', { status: 'failed', at, service: null })

  const entries = (await call('GET', '/activity')).body as unknown as Activity[]
  assert.deepEqual(
    entries.map(({ event, state }) => `${event} ${state}`),
    ['discarded discarded', 'parked parked', 'retried queued', 'parked parked', 'created queued'],
  )
})
