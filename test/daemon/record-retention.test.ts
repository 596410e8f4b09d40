// Old records that the daemon deletes every hour and at startup.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { startRecordRetention } from '../../src/daemon/record-retention.ts'
import { eventLifetimeMs } from '../../storage/events.ts'
import { createIds } from '../../storage/store/ids.ts'
import { transitionOf } from '../support/storage/store-fixtures.ts'
import { eventually, silentLogger, temporaryStorage } from '../support/supervisor/supervision.ts'
import { testMac } from '../support/system/test-mac.ts'

const minuteMs = 60_000
const dayMs = eventLifetimeMs
const kinds = [
  ['datastore', 'dst', 'deleted', null, dayMs],
  ['certificate', 'crt', 'released', null, dayMs],
  ['backup', 'bak', 'deleted', 'dst-1', dayMs],
  ['restore', 'rst', 'done', 'dst-1', 30 * dayMs],
  ['disk-chown', 'own', 'succeeded', 'svc-1', 30 * dayMs],
] as const

for (const [kind, prefix, status, owner, keptMs] of kinds) {
  test(`an ended ${kind} is deleted in time, with its history; others stay`, async (t) => {
    const storage = await temporaryStorage(t)
    const make = async (ageMs: number, final: boolean) => {
      const id = createIds(() => Date.now() - ageMs).newId(prefix)
      const row = { id, kind, service_id: owner, final }
      await storage.actors.create(transitionOf(row, { status: final ? status : 'valid' }))
      return id
    }
    const over = await make(keptMs + minuteMs, true)
    const lives = await make(keptMs + 2 * minuteMs, false)
    const young = await make(keptMs - minuteMs, true)

    const forgetting = startRecordRetention(
      storage,
      { prefix: 'berth', serverId: 'srv', mac: testMac },
      silentLogger,
    )
    t.after(() => forgetting.stop())

    await eventually('it to be forgotten', () => storage.actors.record(over) === null)
    const { actors } = storage
    deepEqual([actors.get(over), actors.history(over)], [null, []])
    deepEqual(actors.ids(kind, owner ?? '').sort(), [lives, young].sort())
    deepEqual([actors.history(lives).length, actors.history(young).length], [1, 1])
  })
}
