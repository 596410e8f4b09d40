// Old records that the daemon deletes every hour and at startup.
import { deepEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { startRecordRetention } from '../../src/daemon/record-retention.ts'
import { eventLifetimeMs } from '../../storage/events.ts'
import { createIds } from '../../storage/store/ids.ts'
import { serviceRow, transitionOf } from '../support/storage/store-fixtures.ts'
import { eventually, silentLogger, temporaryStorage } from '../support/supervisor/supervision.ts'
import { testMac } from '../support/system/test-mac.ts'

const minuteMs = 60_000
const testOwner = { prefix: 'berth', serverId: 'srv', mac: testMac }
const dayMs = eventLifetimeMs
const kinds = [
  ['datastore', 'dst', 'deleted', null, dayMs],
  ['certificate', 'crt', 'released', null, dayMs],
  ['backup', 'bak', 'deleted', 'dst-1', dayMs],
  ['restore', 'rst', 'done', 'dst-1', 30 * dayMs],
  ['disk-chown', 'own', 'succeeded', 'svc-1', 30 * dayMs],
  ['service-removal', 'svc', 'removed', 'svc-1', dayMs],
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

test('responses to repeated requests are limited in number, the oldest go first', async (t) => {
  const { events } = await temporaryStorage(t)
  const at = (count: number) => new Date(Date.parse('2026-01-01T00:00:00.000Z') + count).toISOString()
  for (let count = 0; count < 5; count++) await events.record(`key-${count}`, at(count), count)

  await events.forgetSurplus(3)

  const left = [0, 1, 2, 3, 4].filter((count) => events.get(`key-${count}`) !== null)
  deepEqual(left, [2, 3, 4])
})

test('large logs push out older runs and deploys, but never the newest ten', async (t) => {
  const storage = await temporaryStorage(t)
  await storage.commit((commit) => storage.services.insert(commit, serviceRow()))
  const make = async (kind: 'deploy' | 'job-run', lineBytes: number) => {
    const id = storage.ids.newId(kind === 'deploy' ? 'dep' : 'job')
    await storage.actors.create(transitionOf({ id, kind, final: true }, { status: 'failed' }))
    storage.logs.append(id, 'stdout', 'x'.repeat(lineBytes))
    await storage.logs.end(id)
    return id
  }
  const runs: string[] = []
  for (let count = 0; count < 30; count++) runs.unshift(await make('job-run', 1000))
  const deploys: string[] = []
  for (let count = 0; count < 15; count++) deploys.unshift(await make('deploy', 15_000))
  const limits = { keepDeploys: 200, keepRuns: 25, logBytes: 20_000 }

  const forgetting = startRecordRetention(storage, testOwner, silentLogger, limits)
  t.after(() => forgetting.stop())

  const left = (kind: string) => storage.actors.ids(kind, 'svc-1')
  await eventually('the runs to be forgotten', () => left('job-run').length < 25)
  const kept = left('job-run')
  deepEqual(kept, runs.slice(0, kept.length))
  ok(kept.length > 10 && kept.length < 20, String(kept.length))
  await eventually('the deploys to be forgotten', () => left('deploy').length === 10)
  deepEqual(left('deploy'), deploys.slice(0, 10))
  await eventually('their logs', async () => (await storage.logs.ids()).length === 10 + kept.length)
})

test('of more than a thousand sessions, those that were not used for long end', async (t) => {
  const storage = await temporaryStorage(t)
  const { sessions } = storage
  const usedAt = (place: number) => new Date(Date.now() - place * 1000).toISOString()
  await storage.commit((commit) => {
    for (let place = 0; place < 1005; place++) {
      const at = usedAt(place)
      const row = { id: `ses-${place % 7}-${place}`, created_at: at, last_used_at: at, user_agent: null }
      sessions.insert(commit, `secret-${place}`, row)
    }
  })

  const forgetting = startRecordRetention(storage, testOwner, silentLogger)
  t.after(() => forgetting.stop())

  await eventually('the surplus to end', () => sessions.list().length === 1000)
  const has = (place: number) => sessions.bySecret(`secret-${place}`) !== null
  deepEqual([0, 999, 1000, 1004].map(has), [true, true, false, false])
})
