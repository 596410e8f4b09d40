// Final actors without a service are deleted after a while, with all their data.
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

test('final actors of sufficient age are deleted, with record and history', async (t) => {
  const storage = await temporaryStorage(t)
  const { actors } = storage
  const old = await createActor(storage, { minutes: 1, final: true })
  const young = await createActor(storage, { minutes: 10, final: true })

  await actors.removeFinal(kind, cutoff)

  deepEqual([actors.get(old), actors.record(old), actors.history(old)], [null, null, []])
  deepEqual(actors.ids(kind, ''), [young])
  equal(actors.history(young).length, 1)
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

test('deletion leaves nothing on disk', async (t) => {
  const directory = temporaryDirectory(t)
  const storage = await temporaryStorage(t, directory)
  const old = await createActor(storage, { minutes: 1, final: true })

  await storage.actors.removeFinal(kind, cutoff)
  await storage.close()

  const tables = await rawTables(directory)
  const holding = Object.entries(tables).filter(([, rows]) => JSON.stringify(rows).includes(old))
  deepEqual(holding, [])
})
