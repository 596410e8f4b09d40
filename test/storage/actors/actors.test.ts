// Stored actors: rows, records, lists, the active index and a bounded history. One commit per transition.
import { deepEqual, equal, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import type { ActorRecord } from '../../../storage/actors/actors.ts'
import { openStore } from '../../../storage/store/store.ts'
import { flipBit, rawTables, serviceRow, transitionOf } from '../../support/storage/store-fixtures.ts'
import { instant, temporaryStorage } from '../../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const ids = (found: Iterable<{ id: string }>) => [...found].map(({ id }) => id)

test('a transition is read back as row, record and history, and appears in the change feed', async (t) => {
  const storage = await temporaryStorage(t)
  const created = transitionOf({ id: 'dep-1' })
  const entry = {
    at: instant,
    event: 'cancel',
    state: 'canceling',
    status: 'canceled',
    phase: null,
    by: null,
  }
  const canceled = transitionOf({ id: 'dep-1', revision: 2 }, { status: 'canceled', entry })

  await storage.actors.create(created)
  await storage.actors.advance(canceled)

  deepEqual(storage.actors.get('dep-1'), canceled.row)
  deepEqual(storage.actors.record('dep-1'), canceled.record)
  const history = [
    { ...created.entry, revision: 1, boot: 1 },
    { ...entry, revision: 2, boot: 1 },
  ]
  deepEqual(storage.actors.history('dep-1'), history)
  const about = { kind: 'deploy', id: 'dep-1', service_id: 'svc-1' }
  const transitions = history.map((one) => ({ actor_id: 'dep-1', kind: 'deploy', ...one }))
  deepEqual(storage.changes.since(0), [
    { number: 1, ...about, status: 'queued', revision: 1, transition: transitions[0] },
    { number: 2, ...about, status: 'canceled', revision: 2, transition: transitions[1] },
  ])
})

test('an existing id is not created again and keeps its data', async (t) => {
  const storage = await temporaryStorage(t)
  await storage.actors.create(transitionOf({ id: 'dep-1' }))

  await rejects(storage.actors.create(transitionOf({ id: 'dep-1' }, { status: 'live' })), {
    code: 'id_taken',
  })

  equal(storage.actors.record('dep-1')?.status, 'queued')
})

test('a transition that does not follow the stored one is refused and writes nothing', async (t) => {
  const storage = await temporaryStorage(t)
  await storage.actors.create(transitionOf({ id: 'dep-1' }))
  const before = [storage.actors.get('dep-1'), storage.actors.history('dep-1'), storage.changes.head()]

  for (const revision of [1, 3, 0]) {
    const late = transitionOf({ id: 'dep-1', revision }, { status: 'live', event: 'key-1' })
    await rejects(storage.actors.advance(late), { code: 'revision_conflict' })
  }
  await rejects(storage.actors.advance(transitionOf({ id: 'dep-2', revision: 2 })), {
    code: 'revision_conflict',
  })

  deepEqual([storage.actors.get('dep-1'), storage.actors.history('dep-1'), storage.changes.head()], before)
  equal(storage.events.get('key-1'), null)
})

test('when two transitions follow the same one, one of them is refused', async (t) => {
  const storage = await temporaryStorage(t)
  await storage.actors.create(transitionOf({ id: 'dep-1' }))

  const outcomes = await Promise.allSettled([
    storage.actors.advance(transitionOf({ id: 'dep-1', revision: 2 }, { status: 'first' })),
    storage.actors.advance(transitionOf({ id: 'dep-1', revision: 2 }, { status: 'second' })),
  ])

  deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected'],
  )
  equal(storage.actors.record('dep-1')?.status, 'first')
})

test('lists by kind and by service are newest first by id, in any order of creation', async (t) => {
  const storage = await temporaryStorage(t)
  for (const id of ['dep-3', 'dep-1', 'dep-4', 'dep-2']) await storage.actors.create(transitionOf({ id }))
  await storage.actors.create(transitionOf({ id: 'dep-9', service_id: 'svc-10' }))
  await storage.actors.create(transitionOf({ id: 'job-9', kind: 'job-run' }))

  deepEqual(storage.actors.ids('deploy', 'svc-1'), ['dep-4', 'dep-3', 'dep-2', 'dep-1'])
  deepEqual(ids(storage.actors.list('deploy', 'svc-1', 2)), ['dep-4', 'dep-3'])
  deepEqual(storage.actors.latest('deploy', 'svc-1'), transitionOf({ id: 'dep-4' }).record)
  equal(storage.actors.latest('deploy', 'svc-2'), null)
})

test('of six hundred transitions the first ten and the last five hundred are stored', async (t) => {
  const storage = await temporaryStorage(t)
  const step = (revision: number) => ({
    at: instant,
    event: `step ${revision}`,
    state: 'live',
    status: 'live',
    phase: null,
    by: null,
  })
  await storage.actors.create(transitionOf({ id: 'dep-1' }, { entry: step(1) }))
  await storage.actors.create(transitionOf({ id: 'dep-10' }, { entry: step(1) }))
  const advances = Array.from({ length: 599 }, (_, index) =>
    storage.actors.advance(transitionOf({ id: 'dep-1', revision: index + 2 }, { entry: step(index + 2) })),
  )
  await Promise.all(advances)

  const kept = Array.from({ length: 600 }, (_, index) => index + 1).filter((one) => one <= 10 || one > 100)
  const stored = (revision: number) => ({ ...step(revision), revision, boot: 1 })
  deepEqual(storage.actors.history('dep-1'), kept.map(stored))
  deepEqual(storage.actors.history('dep-10'), [stored(1)])
})

test('active actors are those neither final nor parked: overall, per kind and per service', async (t) => {
  const storage = await temporaryStorage(t)
  const { actors } = storage
  for (const id of ['dep-1', 'dep-2', 'dep-3', 'dep-4']) await actors.create(transitionOf({ id }))
  await actors.create(transitionOf({ id: 'dep-5', service_id: 'svc-2' }))
  await actors.create(transitionOf({ id: 'svc-1', kind: 'service-removal' }))
  await actors.create(transitionOf({ id: 'git-1', kind: 'git-connection', service_id: null }))
  await actors.create(transitionOf({ id: 'dep-6', final: true }))

  await actors.advance(transitionOf({ id: 'dep-2', revision: 2, final: true }))
  await actors.advance(transitionOf({ id: 'dep-3', revision: 2 }))
  await actors.park('dep-4', 'it kept failing', instant)
  await actors.countRestart('dep-1', 2)

  const expected = ['dep-1', 'dep-3', 'dep-5', 'git-1', 'svc-1']
  deepEqual(ids(actors.active()).sort(), expected)
  deepEqual(ids(actors.active('deploy')), ['dep-1', 'dep-3', 'dep-5'])
  deepEqual([...actors.active('deploy', 'svc-2')], [{ id: 'dep-5', kind: 'deploy', service_id: 'svc-2' }])
  deepEqual(ids(actors.active('git-connection')), ['git-1'])
})

test('a parked actor records the reason in its history, and rejects late transitions', async (t) => {
  const storage = await temporaryStorage(t)
  const { row, entry, record } = transitionOf({ id: 'dep-1' })
  await storage.actors.create(transitionOf({ id: 'dep-1' }))

  await storage.actors.park('dep-1', 'it kept failing', instant)

  deepEqual(storage.actors.get('dep-1'), { ...row, revision: 2, parked: 'it kept failing' })
  const failed = { status: 'failed', error: 'internal: it kept failing', finished_at: instant }
  deepEqual(storage.actors.record('dep-1'), { ...record, ...failed, revision: 2 })
  const parked = { at: instant, event: 'parked', state: 'parked', status: 'failed', phase: null, by: null }
  deepEqual(storage.actors.history('dep-1'), [
    { ...entry, revision: 1, boot: 1 },
    { ...parked, revision: 2, boot: 1 },
  ])
  await rejects(storage.actors.advance(transitionOf({ id: 'dep-1', revision: 2 })), {
    code: 'revision_conflict',
  })
})

for (const damaged of ['actors', 'records']) {
  test(`an actor with a damaged row in ${damaged} can be parked and is not restored`, async (t) => {
    const directory = temporaryDirectory(t)
    const first = await temporaryStorage(t, directory)
    await first.actors.create(transitionOf({ id: 'err-1' }))
    await first.actors.create(transitionOf({ id: 'err-2' }))
    await first.close()
    await flipBit(directory, damaged, 'err-1')
    const storage = await temporaryStorage(t, directory)
    if (damaged === 'actors') throws(() => storage.actors.get('err-1'), { code: 'row_damaged' })
    else equal(storage.actors.record('err-1')?.error, 'internal: the record of this actor is damaged')

    await storage.actors.park('err-1', 'its row is damaged', instant)

    deepEqual(ids(storage.actors.active()), ['err-2'])
    const { status, error } = storage.actors.record('err-1')!
    deepEqual([status, error], ['failed', 'internal: its row is damaged'])
    const history = storage.actors
      .history('err-1')
      .map(({ event, revision, boot }) => [event, revision, boot])
    deepEqual(history, [
      ['created', 1, 1],
      ['parked', 2, 2],
    ])
    equal(storage.changes.since(2)![0]!.transition?.event, 'parked')
  })
}

test('deleted actors leave rows in the activity only, and other services are unaffected', async (t) => {
  const directory = temporaryDirectory(t)
  const storage = await temporaryStorage(t, directory)
  const { actors } = storage
  for (const [id, service_id] of [
    ['dep-1', 'svc-gone'],
    ['dep-2', 'svc-gone'],
    ['dep-3', 'svc-gone-too'],
    ['dep-4', 'svc-1'],
  ] as const) {
    await actors.create(transitionOf({ id, service_id }))
    await actors.advance(transitionOf({ id, service_id, revision: 2, final: service_id === 'svc-gone' }))
  }
  await actors.create(transitionOf({ id: 'job-1', kind: 'job-run', service_id: 'svc-gone' }))

  await actors.removeAll('deploy', 'svc-gone')
  await storage.close()

  const { activity, ...tables } = await rawTables(directory)
  equal(activity?.length, 9)
  const rows = Object.entries(tables).flatMap(([table, found]) =>
    found.map((row) => `${table} ${JSON.stringify(row)}`),
  )
  deepEqual(
    rows.filter((row) => /dep-[12]\b/.test(row)),
    [],
  )
  const tablesOf = (id: string) => rows.filter((row) => row.includes(id)).map((row) => row.split(' ')[0])
  for (const id of ['dep-3', 'dep-4']) {
    deepEqual(tablesOf(id), ['active', 'actor_lists', 'actors', 'history', 'history', 'records'])
  }
  deepEqual(tablesOf('job-1'), ['active', 'actor_lists', 'actors', 'history', 'records'])
})

test('a transition and its service update are committed together or not at all', async (t) => {
  const storage = await temporaryStorage(t)
  await storage.services.create(serviceRow())
  await storage.actors.create(transitionOf({ id: 'dep-1' }))
  const seen: unknown[] = []
  storage.changes.subscribe(({ kind }) => {
    seen.push([kind, storage.services.get('svc-1')?.live_deploy_id, storage.actors.record('dep-1')?.status])
  })
  const live = { status: 'live', service: { live_deploy_id: 'dep-1' } }

  await storage.actors.advance(transitionOf({ id: 'dep-1', revision: 2 }, live))
  const late = { status: 'late', service: { live_deploy_id: 'dep-0' } }
  await rejects(storage.actors.advance(transitionOf({ id: 'dep-1', revision: 9 }, late)))

  deepEqual(seen, [
    ['service', 'dep-1', 'live'],
    ['deploy', 'dep-1', 'live'],
  ])
  equal(storage.services.get('svc-1')?.live_deploy_id, 'dep-1')
})

test('records and histories of older servers get a revision and a null requester', async (t) => {
  const directory = temporaryDirectory(t)
  const first = await temporaryStorage(t, directory)
  const { row, record, entry, ...rest } = transitionOf({ id: 'dep-1' })
  const { revision: _, by: __, ...oldRecord } = record
  const { by: ___, ...oldEntry } = entry
  await first.actors.create({ ...rest, row, record: oldRecord as ActorRecord, entry })
  await first.close()
  const store = openStore(directory, { onPanic: t.assert.fail })
  await store.commit(() => store.table('history').put(['dep-1', 1], oldEntry))
  await store.close()
  const storage = await temporaryStorage(t, directory)

  deepEqual(storage.actors.record('dep-1'), { ...oldRecord, revision: 1, by: null })
  deepEqual(storage.actors.history('dep-1'), [{ ...oldEntry, by: null, revision: 1, boot: null }])
})
