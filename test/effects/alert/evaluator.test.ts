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

test('a failed backup names the command that lists those of a datastore, or of a disk', async (t) => {
  const storage = await storageWithShop(t)
  boot(t, storage)
  await end(storage, 'backup', 'bak', 'failed')
  const ofDisk = { id: storage.ids.newId('bak'), kind: 'backup', service_id: 'svc-1', final: true }
  await storage.actors.create(transitionOf(ofDisk, { status: 'failed' }))
  await eventually('both alerts', () => alerts(storage).length === 2)
  deepEqual(
    alerts(storage).map(({ command }) => command),
    ['berth disks backups shop', 'berth db backups dst-1'],
  )
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

/** Commits a further transition of an actor. */
async function advance(storage: Storage, id: string, kind: string, state: string, status: string) {
  const revision = storage.actors.newestHistory(id, 1)[0]!.revision + 1
  const owner = { service_id: kind === 'certificate' ? null : 'svc-1' }
  const { record, entry, ...rest } = transitionOf({ id, kind, revision, ...owner }, { status })
  const former = storage.actors.record(id)
  await storage.actors.advance({ ...rest, entry: { ...entry, state }, record: { ...former, ...record } })
}

test('a datastore that is started again and again is one event, until it serves', async (t) => {
  const storage = await storageWithShop(t)
  boot(t, storage)
  const id = storage.ids.newId('bak')
  await storage.actors.create(transitionOf({ id, kind: 'datastore' }, { status: 'creating' }))
  for (const status of ['failed', 'failed', 'failed', 'available', 'failed'])
    await advance(storage, id, 'datastore', 'wanted', status)
  await eventually('the second failure', () => alerts(storage)[0]?.count === 2)
  await end(storage, 'backup', 'bak', 'failed')
  await eventually('all to be read', () => alerts(storage).length === 2)
  equal(alerts(storage)[1]?.count, 2)
})

test('each attempt for a certificate counts once, from the third one on', async (t) => {
  const storage = await storageWithShop(t)
  boot(t, storage)
  const id = storage.ids.newId('crt')
  const { record, ...rest } = transitionOf(
    { id, kind: 'certificate', service_id: null },
    { status: 'waiting' },
  )
  const facts = { host, error: 'no', not_after: null, renews_at: null }
  await storage.actors.create({ ...rest, record: { ...record, ...facts, attempts: 3 } })
  for (const state of ['checking', 'ordering', 'waiting', 'waiting', 'checking', 'waiting'])
    await advance(storage, id, 'certificate', state, 'waiting')
  await end(storage, 'backup', 'bak', 'failed')
  await eventually('all to be read', () => alerts(storage).length === 2)
  equal(alerts(storage).find(({ rule }) => rule === 'certificate_failed')?.count, 3)
})

test('a scheduled run that is skipped raises an alert, and a later one that begins ends it', async (t) => {
  const storage = await storageWithShop(t)
  boot(t, storage, { isHasty: true })
  const step = (phase: string, status = 'waiting') => {
    const id = storage.ids.newId('job')
    const { entry, ...rest } = transitionOf({ id, kind: 'cron-schedule' }, { status })
    return storage.actors.create({ ...rest, entry: { ...entry, phase } })
  }
  await step(`skipped ${at}: the run before is still running`)
  await eventually('the alert', () => alerts(storage).length === 1)
  equal(alerts(storage)[0]?.title, 'A scheduled run of shop was skipped')
  await step(`began job-1 for ${at}`)
  await eventually('its end', () => alerts(storage)[0]?.recovered_at)
  await step(`skipped up to ${at}: the server did not run`)
  await eventually('another alert', () => alerts(storage).length === 2)
  await step('', 'ended')
  await eventually('the end with the schedule', () => alerts(storage)[0]?.recovered_at)
})

test('a source that can be read again ends its alert', async (t) => {
  const storage = await storageWithShop(t)
  const own = { id: 'aut-1', kind: 'auto-deploy', service_id: 'svc-1' }
  const step = async (revision: number, error: string | null) => {
    const { record, ...rest } = transitionOf({ ...own, revision }, { status: 'watching' })
    const transition = { ...rest, record: { ...record, error, obstacle: null } }
    await storage.actors[revision > 1 ? 'advance' : 'create'](transition)
  }
  const { book } = boot(t, storage, { isHasty: true })
  await step(1, 'cannot read it')
  const subject = { kind: 'service', id: 'svc-1', name: 'shop' }
  const text = { title: 'shop is not deployed', body: '', command: 'berth show shop', link: null }
  const rule = 'source_unreadable' as const
  await book.enter([{ isBroken: true, rule, subject, serviceId: 'svc-1', at, number: null, ...text }])
  await eventually('the alert', () => alerts(storage).length === 1)
  await step(2, null)
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
  git_connection_invalid: {
    kind: 'git-connection',
    prefix: 'git',
    broken: ['invalid', { account: 'ada' }],
    kept: ['connected', { account: 'ada' }],
  },
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
    const [status, fields] = kept
    // The account of git is the subject itself.
    if (kind === 'git-connection') {
      const { id } = alerts(storage)[0]!.subject
      const one = { id, kind, service_id: null, revision: 2, final: true }
      const { record, ...rest } = transitionOf(one, { status })
      await storage.actors.advance({ ...rest, record: { ...record, ...fields } })
    } else await end(storage, kind, prefix, status, fields)
    await eventually('its end', () => alerts(storage)[0]?.recovered_at)
    deepEqual(summary(storage), [[rule, 'recovered', 1]])
  })
}
