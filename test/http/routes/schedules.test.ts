// Cron jobs and their schedules over HTTP and a real store: valid settings, and the record of the next and
// the last runs.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CronScheduleRecord } from '../../../machines/cron-schedule.ts'
import type { Schedule } from '../../../src/api/schedule.ts'
import { scheduleIdOf } from '../../../src/domain/service-types.ts'
import type { Storage } from '../../../storage/index.ts'
import { startChecked } from '../../support/http/checked-api.ts'
import { startJobs } from '../../support/http/job-api.ts'
import { transitionOf } from '../../support/storage/store-fixtures.ts'

const nightly = { name: 'nightly', type: 'cron_job', schedule: '0 3 * * *' }
const invalid = (what: string) => [400, 'invalid_request', what]

/** What the actor of a schedule would have committed. */
async function note(
  storage: Storage,
  serviceId: string,
  reported: Partial<CronScheduleRecord>,
): Promise<void> {
  const id = scheduleIdOf(serviceId)
  const transition = transitionOf({ id, kind: 'cron-schedule', service_id: serviceId }, { status: 'waiting' })
  transition.record = { ...transition.record, last_run: null, last_skip: null, ...reported }
  await storage.actors.create(transition)
}

test('a cron job stores its settings in normal form, and has neither address nor port', async (t) => {
  const { create, call } = await startChecked(t)

  const bare = await create(nightly)
  const full = await create({
    ...nightly,
    name: 'full',
    schedule: ' */15  0-6 * jan MON-FRI ',
    timezone: 'Europe/Berlin',
    overlap: 'queue',
    timeout_seconds: 60,
  })

  const settingsOf = (one: typeof bare) => [one.schedule, one.timezone, one.overlap, one.timeout_seconds]
  assert.deepEqual(settingsOf(bare), ['0 3 * * *', null, null, null])
  assert.deepEqual(settingsOf(full), ['*/15 0-6 * jan MON-FRI', 'Europe/Berlin', 'queue', 60])
  assert.deepEqual([bare.internal_host, bare.internal_port, bare.url, bare.instances], [null, null, null, 1])
  assert.equal((await call('GET', '/services/nightly/status')).body.desired_instances, 0)
})

test('every cron job has a schedule, and no other service does', async (t) => {
  const { create, refused } = await startChecked(t)
  await create(nightly)
  await create({ name: 'web' })
  const { schedule: _, ...none } = nightly

  assert.deepEqual(await refused('POST', '/services', { ...none, name: 'x' }), invalid('schedule invalid'))
  assert.deepEqual(await refused('PATCH', '/services/nightly', { schedule: '' }), invalid('schedule invalid'))
  for (const field of [{ schedule: '0 3 * * *' }, { timezone: 'UTC' }, { overlap: 'skip' }]) {
    const broken = invalid(`${Object.keys(field)[0]} invalid`)
    assert.deepEqual(await refused('PATCH', '/services/web', field), broken)
    assert.deepEqual(await refused('POST', '/services', { name: 'y', ...field }), broken)
  }
})

test('a service that listens, scales or has a disk cannot be a cron job', async (t) => {
  const { create, refused } = await startChecked(t)
  await create(nightly)
  for (const field of [
    { instances: 2 },
    { disk_mount_path: '/data' },
    { health_check_path: '/up' },
    { custom_domains: ['cron.example.org'] },
    { hsts: true },
  ]) {
    const broken = invalid(`${Object.keys(field)[0]} invalid`)
    assert.deepEqual(await refused('PATCH', '/services/nightly', field), broken)
    assert.deepEqual(await refused('POST', '/services', { ...nightly, name: 'x', ...field }), broken)
  }
  assert.deepEqual(
    await refused('POST', '/services/nightly/scale', { instances: 2 }),
    invalid('instances invalid'),
  )
})

test('an empty time zone resets to UTC, and a limit of 0 to the default', async (t) => {
  const { create, call } = await startChecked(t)
  await create({ ...nightly, timezone: 'Asia/Kolkata', timeout_seconds: 60 })

  const { body } = await call('PATCH', '/services/nightly', { timezone: '', timeout_seconds: 0 })

  assert.deepEqual([body.timezone, body.timeout_seconds], [null, null])
})

test('a schedule shows no next time before the first deploy and while suspended', async (t) => {
  const { create, call } = await startJobs(t)
  const service = await create({ ...nightly, image: 'localhost/app:1' })
  const reported = async () => (await call('GET', '/services/nightly/schedule')).body as unknown as Schedule

  const planned = await reported()
  await call('POST', '/services/nightly/suspend')
  const suspended = await reported()

  const rest = { timezone: 'UTC', overlap: 'skip', error: null, next: [], last_run: null, last_skip: null }
  assert.deepEqual(planned, { schedule: '0 3 * * *', status: 'not_deployed', ...rest })
  assert.deepEqual(suspended, { ...planned, status: 'suspended' })
  assert.deepEqual((await call('GET', `/services/${service.id}/schedule/history`)).body, [])
})

test('the next five times follow its zone, and move with its schedule immediately', async (t) => {
  const { live, call } = await startJobs(t)
  await live({ ...nightly, timezone: 'Asia/Kolkata' })
  const next = async () =>
    ((await call('GET', '/services/nightly/schedule')).body as unknown as Schedule).next

  const inIndia = await next()
  await call('PATCH', '/services/nightly', { schedule: '30 4 * * *', timezone: '' })
  const inUtc = await next()

  const clocks = (instants: string[]) => instants.map((at) => at.slice(11))
  assert.deepEqual(clocks(inIndia), Array(5).fill('21:30:00.000Z'))
  assert.deepEqual(clocks(inUtc), Array(5).fill('04:30:00.000Z'))
  for (const instants of [inIndia, inUtc]) {
    const days = instants.map((at) => Date.parse(at))
    assert.ok(days[0]! > Date.now() - 60_000)
    assert.deepEqual(
      days.slice(1).map((at, index) => at - days[index]!),
      Array(4).fill(86_400_000),
    )
  }
})

test('the last run is shown in its current state, and the last skipped time with its reason', async (t) => {
  const { live, call, ask, starts, ends, storage, run } = await startJobs(t)
  const { id: serviceId } = await live(nightly)
  const { id } = await ask('nightly')
  const skip = { scheduled_for: '2026-01-02T03:00:00.000Z', at: '2026-01-02T03:00:00.010Z', reason: 'busy' }
  await note(storage, serviceId, {
    last_run: { scheduled_for: '2026-01-01T03:00:00.000Z', job_id: id },
    last_skip: skip,
  })
  await starts(id)
  await ends(id, 0)

  const { body } = await call('GET', '/services/nightly/schedule')

  assert.deepEqual([body.last_run, body.last_skip], [run(id), skip])
  const history = (await call('GET', '/services/nightly/schedule/history')).body as unknown as object[]
  assert.equal(history.length, 1)
})

test('a parked schedule shows the reason and no next time', async (t) => {
  const { live, call, storage } = await startJobs(t)
  const { id } = await live(nightly)
  await note(storage, id, {})
  await storage.actors.park(scheduleIdOf(id), 'a bug', '2026-01-01T00:00:00.000Z')

  const { body } = await call('GET', '/services/nightly/schedule')

  assert.deepEqual([body.status, body.error, body.next], ['failed', 'internal: a bug', []])
})

test('a deleted run is not the last run, and other services have no schedule', async (t) => {
  const { live, call, storage } = await startJobs(t)
  const { id } = await live(nightly)
  await live({ name: 'web' })
  await note(storage, id, {
    last_run: { scheduled_for: '2026-01-01T03:00:00.000Z', job_id: 'job-01k5yq0v3nhx8m2r7c9d4f6gbt' },
  })

  assert.equal((await call('GET', '/services/nightly/schedule')).body.last_run, null)
  for (const path of ['/services/web/schedule', '/services/web/schedule/history', '/services/x/schedule']) {
    const { status, body } = await call('GET', path)
    assert.deepEqual([status, body.code], [404, 'not_found'], path)
  }
})
