// What the daemon forgets by itself, every hour and at its start: what is over and was kept for a day.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { forgetHourly } from '../../src/daemon/forgetting.ts'
import { eventLifetimeMs } from '../../storage/events.ts'
import { createIds } from '../../storage/ids.ts'
import { transitionOf } from '../support/stored.ts'
import { eventually, silent, temporaryStorage } from '../support/supervised.ts'

const minuteMs = 60_000
const kinds = [
  ['datastore', 'dst', 'deleted'],
  ['certificate', 'crt', 'released'],
] as const

for (const [kind, prefix, status] of kinds) {
  test(`a ${kind} that is over is forgotten after a day, with its history; others stay`, async (t) => {
    const storage = await temporaryStorage(t)
    const make = async (ageMs: number, final: boolean) => {
      const id = createIds(() => Date.now() - ageMs).newId(prefix)
      const row = { id, kind, service_id: null, final }
      await storage.actors.create(transitionOf(row, { status: final ? status : 'valid' }))
      return id
    }
    const over = await make(eventLifetimeMs + minuteMs, true)
    const lives = await make(eventLifetimeMs + 2 * minuteMs, false)
    const young = await make(eventLifetimeMs - minuteMs, true)

    const forgetting = forgetHourly(storage, silent)
    t.after(() => forgetting.stop())

    await eventually('it to be forgotten', () => storage.actors.record(over) === null)
    const { actors } = storage
    deepEqual([actors.get(over), actors.history(over)], [null, []])
    deepEqual(actors.ids(kind, '').sort(), [lives, young].sort())
    deepEqual([actors.history(lives).length, actors.history(young).length], [1, 1])
  })
}
