// Old actors are deleted with all their data: final ones without a service after a while, and those of a
// service beyond the newest ones.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { Storage } from '../../storage/index.ts'
import { createIds } from '../../storage/store/ids.ts'
import { rawTables, transitionOf } from '../support/storage/store-fixtures.ts'
import { temporaryStorage } from '../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const kind = 'terminal-login'
const timeMs = Date.parse('2026-01-01T00:00:00.000Z')

/** An id that was created that many minutes after the start. */
function idAt(minutes: number, prefix: 'cli' | 'dep' = 'cli'): string {
  return createIds(() => timeMs + minutes * 60_000).newId(prefix)
}

interface Made {
  minutes: number
  final: boolean
  of?: { kind: string; service_id: string | null; prefix: 'cli' | 'dep' }
}

async function createActor(storage: Storage, { minutes, final, of }: Made): Promise<string> {
  const id = idAt(minutes, of?.prefix)
  const row = { id, kind: of?.kind ?? kind, service_id: of?.service_id ?? null, final }
  await storage.actors.create(transitionOf(row, { status: final ? 'collected' : 'pending' }))
  return id
}

const cutoff = timeMs + 10 * 60_000

test('final actors of sufficient age are deleted, and only their activity stays on disk', async (t) => {
  const directory = temporaryDirectory(t)
  const storage = await temporaryStorage(t, directory)
  const { actors } = storage
  const old = await createActor(storage, { minutes: 1, final: true })
  const young = await createActor(storage, { minutes: 10, final: true })

  await actors.removeFinal(kind, cutoff)

  deepEqual([actors.get(old), actors.record(old), actors.history(old)], [null, null, []])
  deepEqual(actors.ids(kind, ''), [young])
  equal(actors.history(young).length, 1)
  await storage.close()
  const { activity: _, ...tables } = await rawTables(directory)
  equal(JSON.stringify(tables).includes(old), false)
})

test('unfinished and parked actors stay at any age', async (t) => {
  const storage = await temporaryStorage(t)
  const open = await createActor(storage, { minutes: 1, final: false })
  const parked = await createActor(storage, { minutes: 2, final: false })
  await storage.actors.park(parked, 'a bug', '2026-01-01T00:03:00.000Z')

  await storage.actors.removeFinal(kind, cutoff)

  deepEqual(storage.actors.ids(kind, ''), [parked, open])
  deepEqual([...storage.actors.active(kind)], [{ id: open, kind, service_id: null }])
})

test('actors of other kinds and of services are not deleted', async (t) => {
  const storage = await temporaryStorage(t)
  const deploy = { kind: 'deploy', service_id: 'svc-1', prefix: 'dep' } as const
  const actor = await createActor(storage, { minutes: 1, final: true, of: deploy })
  const stray = await createActor(storage, { minutes: 1, final: true, of: { ...deploy, service_id: null } })

  await storage.actors.removeFinal(kind, cutoff)

  deepEqual([storage.actors.ids('deploy', 'svc-1'), storage.actors.ids('deploy', '')], [[actor], [stray]])
})

async function createRun(storage: Storage, { final = true, service_id = 'svc-1' } = {}): Promise<string> {
  const id = storage.ids.newId('job')
  await storage.actors.create(transitionOf({ id, kind: 'job-run', final, service_id }, { status: 'pending' }))
  return id
}

test('the newest stay; the others are deleted with record, index and history, and returned', async (t) => {
  const directory = temporaryDirectory(t)
  const storage = await temporaryStorage(t, directory)
  const ids: string[] = []
  for (let count = 0; count < 5; count++) ids.unshift(await createRun(storage))

  const gone = await storage.actors.removeOlder('job-run', 'svc-1', 2)
  const again = await storage.actors.removeOlder('job-run', 'svc-1', 2)

  const [newest, second, ...others] = ids
  deepEqual([gone, again], [others, []])
  deepEqual(storage.actors.ids('job-run', 'svc-1'), [newest, second])
  deepEqual(
    others.map((id) => [storage.actors.get(id), storage.actors.record(id), storage.actors.history(id)]),
    others.map(() => [null, null, []]),
  )
  await storage.close()
  const { activity: _, ...tables } = await rawTables(directory)
  const text = JSON.stringify(tables)
  deepEqual(
    others.filter((id) => text.includes(id)),
    [],
  )
})

test('unfinished actors and those of other services stay at any age', async (t) => {
  const storage = await temporaryStorage(t)
  const elsewhere = await createRun(storage, { service_id: 'svc-0' })
  const later = await createRun(storage, { service_id: 'svc-2' })
  const open = await createRun(storage, { final: false })
  const over = await createRun(storage)
  const newest = await createRun(storage)

  deepEqual(await storage.actors.removeOlder('job-run', 'svc-1', 1), [over])

  deepEqual(storage.actors.ids('job-run', 'svc-1'), [newest, open])
  deepEqual(
    [...storage.actors.ids('job-run', 'svc-0'), ...storage.actors.ids('job-run', 'svc-2')],
    [elsewhere, later],
  )
})
