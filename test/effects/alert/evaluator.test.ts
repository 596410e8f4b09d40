// Alerts from committed transitions, with a real store and supervisor. A restart is a new supervisor and a
// new evaluator on the same store.
import { deepEqual, equal } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import * as alert from '../../../machines/alert.ts'
import type { Notice } from '../../../src/domain/notice.ts'
import { alertEffects } from '../../../src/effects/alert/alert.ts'
import { AlertBook } from '../../../src/effects/alert/book.ts'
import { AlertEvaluator } from '../../../src/effects/alert/evaluator.ts'
import { Supervisor } from '../../../src/supervisor/supervisor.ts'
import type { RecordOf } from '../../../storage/actors/actors.ts'
import type { Storage } from '../../../storage/index.ts'
import { forever } from '../../support/machines/machine-run.ts'
import { serviceRow, transitionOf } from '../../support/storage/store-fixtures.ts'
import {
  eventually,
  silentLogger,
  stopBeforeClose,
  temporaryStorage,
} from '../../support/supervisor/supervision.ts'

const at = '2026-01-01T00:00:00.000Z'

interface Boot {
  /** Whether waits end at once. */
  isHasty?: boolean
  evaluates?: boolean
}

function boot(t: TestContext, storage: Storage, { isHasty = false, evaluates = true }: Boot = {}) {
  const notices: Notice[] = []
  const supervisor = new Supervisor({ storage, catalogue: { alert }, logger: silentLogger })
  const notify = async (notice: Notice) => {
    if (!notices.some(({ id }) => id === notice.id)) notices.push(notice)
  }
  const awaitInstant = isHasty
    ? async () => undefined
    : (_: unknown, signal: AbortSignal): Promise<never> => forever(signal)
  supervisor.provide({ alert: { ...alertEffects({ notify }), awaitInstant } })
  const halt = new AbortController()
  const ports = { storage, actors: supervisor, logger: silentLogger }
  const book = new AlertBook(ports, halt.signal)
  const evaluator = new AlertEvaluator(ports, book)
  const stop = async () => {
    halt.abort()
    await evaluator.stop()
    await supervisor.stop(1000)
  }
  stopBeforeClose(t, storage, stop)
  if (evaluates) evaluator.start()
  return { notices, supervisor, stop, book, restore: () => supervisor.restore() }
}

async function storageWithShop(t: TestContext): Promise<Storage> {
  const storage = await temporaryStorage(t)
  await storage.services.create(serviceRow())
  return storage
}

/** Commits an actor of that kind that ended so. */
async function end(
  storage: Storage,
  kind: string,
  prefix: 'dep' | 'job' | 'bak' | 'git' | 'crt' | 'sbk',
  status: string,
  fields: object = {},
) {
  const id = storage.ids.newId(prefix)
  const service_id = kind === 'git-connection' ? null : kind === 'backup' ? 'dst-1' : 'svc-1'
  const { record, ...rest } = transitionOf({ id, kind, service_id, final: true }, { status })
  await storage.actors.create({ ...rest, record: { ...record, ...fields } })
  return id
}

function alerts({ actors }: Storage): RecordOf<'alert'>[] {
  return actors.newest('alert', undefined, { limit: 100 }).map(({ id }) => actors.record<'alert'>(id)!)
}

const summary = (storage: Storage) => alerts(storage).map(({ rule, status, count }) => [rule, status, count])
const isRead = (storage: Storage) => storage.alerts.progress() !== null && storage.alerts.progress()

test('a failed deploy raises an alert, and the next live one ends it', async (t) => {
  const storage = await storageWithShop(t)
  const { notices } = boot(t, storage, { isHasty: true })

  await end(storage, 'deploy', 'dep', 'failed', { error: 'it does not start' })
  await eventually('the alert', () => notices.length === 1)
  equal(notices[0]?.title, 'A deploy of shop failed')
  await end(storage, 'deploy', 'dep', 'live')

  await eventually('its end', () => notices.length === 2)
  deepEqual(summary(storage), [['deploy_failed', 'recovered', 1]])
  equal(notices[1]?.title, 'Recovered: A deploy of shop failed')
})

test('a failed deploy whose cleanup is a transition of its own counts once', async (t) => {
  const storage = await storageWithShop(t)
  boot(t, storage)
  const [id, service_id] = [storage.ids.newId('dep'), 'svc-1']
  const failing = transitionOf({ id, kind: 'deploy', service_id }, { status: 'failed' })
  await storage.actors.create({ ...failing, entry: { ...failing.entry, state: 'failing' } })
  const failed = transitionOf(
    { id, kind: 'deploy', service_id, revision: 2, final: true },
    { status: 'failed' },
  )
  await storage.actors.advance({ ...failed, entry: { ...failed.entry, state: 'failed' } })
  await end(storage, 'backup', 'bak', 'failed')
  await eventually('both alerts', () => alerts(storage).length === 2)
  equal(alerts(storage).find(({ rule }) => rule === 'deploy_failed')?.count, 1)
})

test('a thousand failed runs in a minute are one alert that counts them', async (t) => {
  const storage = await storageWithShop(t)
  const { notices } = boot(t, storage)
  const runs = Array.from({ length: 1000 }, () =>
    end(storage, 'job-run', 'job', 'failed', { trigger: 'schedule' }),
  )
  await Promise.all(runs)
  await eventually('all to be counted', () => alerts(storage)[0]?.count === 1000)
  await end(storage, 'job-run', 'job', 'succeeded', { trigger: 'schedule' })
  await eventually('the calm', () => alerts(storage)[0]?.cleared_at !== null)
  equal(alerts(storage).length, 1)
  deepEqual(
    notices.map(({ event, count }) => [event, count >= 1]),
    [['alert.raised', true]],
  )
})

test('transitions that were committed while nobody read them are read at the next start', async (t) => {
  const storage = await storageWithShop(t)
  const first = boot(t, storage)
  await eventually('the first reading', () => isRead(storage) !== false)
  await first.stop()
  await end(storage, 'deploy', 'dep', 'failed')
  await end(storage, 'backup', 'bak', 'failed')

  const { restore } = boot(t, storage)
  await restore()

  await eventually('both alerts', () => alerts(storage).length === 2)
  deepEqual(summary(storage).sort(), [
    ['backup_failed', 'raised', 1],
    ['deploy_failed', 'raised', 1],
  ])
})

test('transitions that are read twice after a crash count once, also when the alert has ended', async (t) => {
  const storage = await storageWithShop(t)
  const first = boot(t, storage, { isHasty: true })
  await eventually('the first reading', () => isRead(storage) !== false)
  const before = storage.alerts.progress()!
  for (let event = 0; event < 3; event++) await end(storage, 'deploy', 'dep', 'failed')
  await end(storage, 'deploy', 'dep', 'live')
  await eventually('the end', () => alerts(storage)[0]?.recovered_at)
  await eventually('the progress', () => storage.alerts.progress()! > before)
  await first.stop()
  const known = summary(storage)
  await storage.alerts.setProgress(before)

  const second = boot(t, storage, { isHasty: true })
  await second.restore()
  await eventually('the second reading', () => storage.alerts.progress()! > before)

  deepEqual(summary(storage), known)
})

test('an alert that is raised again soon needs a longer calm to end', async (t) => {
  const storage = await storageWithShop(t)
  boot(t, storage, { isHasty: true })
  for (const ended of [1, 2]) {
    await end(storage, 'deploy', 'dep', 'failed')
    await eventually('an alert', () => alerts(storage).length === ended)
    await end(storage, 'deploy', 'dep', 'live')
    await eventually('its end', () => alerts(storage)[0]?.recovered_at)
  }
  deepEqual(
    alerts(storage).map(({ flaps }) => flaps),
    [1, 0],
  )
})

test('a rule that is turned off raises nothing, for one subject or for all', async (t) => {
  const storage = await storageWithShop(t)
  await storage.alerts.setRule('deploy_failed', 'svc-1', { enabled: false })
  await storage.alerts.setRule('backup_failed', '', { enabled: false })
  boot(t, storage)
  await end(storage, 'deploy', 'dep', 'failed')
  await end(storage, 'backup', 'bak', 'failed')
  await end(storage, 'git-connection', 'git', 'invalid', { account: 'ada' })
  await eventually('the last one', () => alerts(storage).length > 0)
  deepEqual(summary(storage), [['git_connection_invalid', 'raised', 1]])
})

test('a parked actor raises an alert until it is retried or discarded', async (t) => {
  const storage = await storageWithShop(t)
  const { notices } = boot(t, storage, { isHasty: true })
  const id = storage.ids.newId('dep')
  await storage.actors.create(transitionOf({ id }, { status: 'running' }))
  await storage.actors.park(id, 'a bug', at)
  await eventually('the alert', () => notices.length === 1)
  await storage.actors.discard(id, { status: 'failed', at, service: null })
  await eventually('its end', () => notices.length === 2)
  deepEqual(summary(storage), [['actor_parked', 'recovered', 1]])
})

test('a parked alert raises no alert', async (t) => {
  const storage = await storageWithShop(t)
  const { supervisor } = boot(t, storage)
  await end(storage, 'deploy', 'dep', 'failed')
  const found = await eventually('the alert', () => alerts(storage)[0])
  await supervisor.stop(1000)
  await storage.actors.park(found.id, 'a bug', at)
  await end(storage, 'git-connection', 'git', 'invalid')
  await new Promise((resolve) => setTimeout(resolve, 50))
  equal(
    alerts(storage).some(({ rule }) => rule === 'actor_parked'),
    false,
  )
})

test('the removal of a service ends its alerts', async (t) => {
  const storage = await storageWithShop(t)
  boot(t, storage, { isHasty: true })
  await end(storage, 'deploy', 'dep', 'failed')
  await eventually('the alert', () => alerts(storage).length === 1)
  const id = storage.ids.newId('dsk')
  await storage.actors.create(
    transitionOf({ id, kind: 'service-removal', final: true }, { status: 'removed' }),
  )
  await eventually('its end', () => alerts(storage)[0]?.recovered_at)
})

interface Case {
  kind: string
  prefix: 'dep' | 'job' | 'bak' | 'git' | 'crt' | 'sbk'
  broken: [status: string, fields?: object]
  kept: [status: string, fields?: object]
}

const host = 'shop.example.com'
const cases: Record<string, Case> = {
  deploy_failed: { kind: 'deploy', prefix: 'dep', broken: ['failed'], kept: ['live'] },
  job_failed: {
    kind: 'job-run',
    prefix: 'job',
    broken: ['failed', { trigger: 'schedule' }],
    kept: ['succeeded', { trigger: 'schedule' }],
  },
  datastore_failed: { kind: 'datastore', prefix: 'bak', broken: ['failed'], kept: ['available'] },
  backup_failed: { kind: 'backup', prefix: 'bak', broken: ['failed'], kept: ['good'] },
  server_backup: { kind: 'server-backup', prefix: 'sbk', broken: ['failed'], kept: ['stored'] },
  certificate_failed: {
    kind: 'certificate',
    prefix: 'crt',
    broken: ['waiting', { host, attempts: 3, error: 'no', not_after: null, renews_at: null }],
    kept: ['valid', { host, attempts: 0, error: null, not_after: null, renews_at: null }],
  },
}

for (const [rule, { kind, prefix, broken, kept }] of Object.entries(cases)) {
  test(`${rule} is raised and ends`, async (t) => {
    const storage = await storageWithShop(t)
    boot(t, storage, { isHasty: true })
    await end(storage, kind, prefix, ...broken)
    await eventually('the alert', () => alerts(storage).length === 1)
    await end(storage, kind, prefix, ...kept)
    await eventually('its end', () => alerts(storage)[0]?.recovered_at)
    deepEqual(summary(storage), [[rule, 'recovered', 1]])
  })
}
