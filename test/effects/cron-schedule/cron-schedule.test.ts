// The life of a schedule: downtime of the daemon, changes of its service, crashes, and clocks that are set.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openCronSite, soon } from '../../support/effects/cron-site.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const at = (time: string) => `2026-01-10T${time}:00.000Z`
const half = { at: at('09:50') }

test('each scheduled time gets one run, with the settings of the service', async (t) => {
  const service = { overlap: 'queue', timeout_seconds: 7 } as const
  const site = await openCronSite(t, { ...half, service })
  await site.add()
  await site.pass(hourMs)
  const ids = site.runs().map(({ id }) => id)
  assert.deepEqual(ids, [...new Set(ids)].sort())
  const runs = site.runs().map((row) => {
    const { id, created_at, started_at, finished_at, revision, ...run } = row as Record<string, unknown>
    return run
  })
  const each = {
    service_id: 'svc-1',
    deploy_id: 'dep-1',
    command: null,
    image: 'berth/shop:dep-1',
    status: 'succeeded',
    trigger: 'schedule',
    overlap: 'queue',
    timeout_seconds: 7,
    stdin: false,
    input_ended_at: null,
    deadline_at: null,
    exit_code: 0,
    error: null,
    error_code: null,
    error_details: null,
    by: { kind: 'schedule', id: null, name: null },
  }
  const instants = [at('10:00'), at('10:30')]
  assert.deepEqual(
    runs,
    instants.map((scheduled_for) => ({ ...each, scheduled_for })),
  )
  const { created_at, revision, ...schedule } = site.schedule() as Record<string, unknown>
  assert.deepEqual(schedule, {
    id: 'sch-1',
    service_id: 'svc-1',
    status: 'waiting',
    phase: `began ${ids[1]} for ${at('10:30')}`,
    schedule: '*/30 * * * *',
    timezone: 'UTC',
    since: at('10:30'),
    last_run: { scheduled_for: at('10:30'), job_id: ids[1] },
    last_skip: null,
    by: null,
  })
})

const absences: [what: string, until: string, runs: string[], missed: string | null][] = [
  ['no instant', '10:29', [], null],
  ['one instant', '10:31', ['10:30'], null],
  ['one instant, and comes back exactly at it', '10:30', ['10:30'], null],
  ['two instants', '11:07', ['11:00'], `: ${at('10:30')} was missed by`],
  [
    'many instants',
    '23:59',
    ['23:30'],
    `: every instant from ${at('10:30')} to ${at('23:00')} was missed by`,
  ],
]

for (const [what, until, runs, missed] of absences) {
  test(`a daemon that was down over ${what} runs only the latest, and reports the others`, async (t) => {
    const site = await openCronSite(t, half)
    await site.add()
    await site.pass(12 * minuteMs)
    await site.stop()
    site.time.set(at(until))

    await site.start()
    await site.pass(0)

    assert.deepEqual(site.instants(), [at('10:00'), ...runs.map(at)])
    const reason = site.schedule().last_skip?.reason ?? null
    assert.equal(missed === null ? reason : reason?.includes(missed), missed === null ? null : true)
    await site.stop()
    await site.start()
    await site.pass(0)
    assert.equal(site.runs().length, 1 + runs.length)
  })
}

test('a daemon that was down for two years catches up immediately, across clock changes', async (t) => {
  const service = { schedule: '30 2 * * *', timezone: 'Europe/Berlin' }
  const site = await openCronSite(t, { at: '2026-01-10T00:00:00.000Z', service })
  await site.add()
  await site.pass(0)
  await site.stop()
  site.time.set('2028-01-10T01:29:59.999Z')
  await site.start()
  await site.pass(0)
  assert.deepEqual(site.instants(), ['2028-01-09T01:30:00.000Z'])
  assert.match(site.schedule().last_skip!.reason, /from 2026-01-10T01:30:00\.000Z to 2028-01-08T01:30:00/)
  await site.pass(1)
  assert.equal(site.instants().at(-1), '2028-01-10T01:30:00.000Z')
})

test('another schedule or zone takes effect immediately and counts from then', async (t) => {
  const site = await openCronSite(t, half)
  await site.add()
  await site.pass(12 * minuteMs)
  await site.change({ schedule: '5,20 * * * *' })
  await site.pass(20 * minuteMs)
  assert.deepEqual(site.instants(), [at('10:00'), at('10:05'), at('10:20')])

  // Half past four in India is eleven in London.
  await site.change({ schedule: '30 16 * * *', timezone: 'Asia/Kolkata' })
  await site.pass(hourMs)

  assert.deepEqual(site.instants().slice(3), [at('11:00')])
  const { schedule, timezone } = site.schedule()
  assert.deepEqual([schedule, timezone], ['30 16 * * *', 'Asia/Kolkata'])
})

test('a changed schedule runs nothing from before the change', async (t) => {
  const site = await openCronSite(t, { at: at('09:50'), service: { schedule: '0 23 * * *' } })
  await site.add()
  await site.pass(hourMs)
  await site.change({ schedule: '*/10 * * * *' })
  assert.deepEqual([site.schedule().since, site.runs()], [at('10:50'), []])
  await site.pass(9 * minuteMs)
  assert.deepEqual(site.instants(), [])
  await site.pass(minuteMs)
  assert.deepEqual(site.instants(), [at('11:00')])
})

test('other changes of the service do not change the plan', async (t) => {
  const site = await openCronSite(t, half)
  await site.add()
  await site.pass(5 * minuteMs)
  await site.change({ memory_limit_mb: 64, overlap: 'replace' })
  assert.equal(site.schedule().since, at('09:50'))
})

test('a suspended service has no runs, and resuming it catches up on none', async (t) => {
  const site = await openCronSite(t, half)
  await site.add()
  await site.pass(12 * minuteMs)
  await site.change({ suspended: true })
  await site.pass(3 * hourMs)
  assert.deepEqual([site.instants(), site.schedule().status], [[at('10:00')], 'paused'])
  await site.stop()
  site.time.set(at('20:02'))
  await site.start()
  await site.pass(hourMs)
  assert.deepEqual(site.instants(), [at('10:00')])

  await site.change({ suspended: false })
  await site.pass(hourMs)

  assert.deepEqual(site.instants(), [at('10:00'), at('21:30'), at('22:00')])
  assert.equal(site.schedule().last_skip, null)
})

for (const [what, fields] of [
  ['is being deleted', { deleting: true }],
  ['is suspended when it is deleted', { deleting: true, suspended: true }],
  ['no longer has a schedule', { schedule: null }],
] as const) {
  test(`a schedule ends when its service ${what}, and sets no timer`, async (t) => {
    const site = await openCronSite(t, half)
    await site.add()
    await site.pass(5 * minuteMs)
    if ('suspended' in fields) await site.change({ suspended: true })
    await site.change(fields)
    assert.equal(site.schedule().status, 'ended')
    assert.deepEqual([...site.storage.actors.active('cron-schedule')], [])
    site.time.move(hourMs)
    assert.deepEqual([site.time.pausing, site.runs()], [0, []])
  })
}

test('a crash between committing a time and starting its run results in one run', async (t) => {
  const site = await openCronSite(t, half)
  await site.stop()
  await site.start({ spawn: () => new Promise(() => undefined) })
  await site.add()
  await site.quiet()
  site.time.move(10 * minuteMs)
  await soon('the instant to be committed', () => site.schedule().status === 'due')
  assert.deepEqual(site.runs(), [])
  await site.stop()
  site.time.move(minuteMs)

  await site.start()
  await site.pass(hourMs)

  assert.deepEqual(site.instants(), [at('10:00'), at('10:30'), at('11:00')])
})

test('a crash between starting a run and committing it results in no second run', async (t) => {
  const site = await openCronSite(t, { ...half, isHeld: true })
  await site.add()
  await site.quiet()
  await site.stop()
  await site.start({
    spawn: (...requested) => site.spawn(...requested).then(() => new Promise(() => undefined)),
  })
  await site.quiet()
  site.time.move(10 * minuteMs)
  await soon('the run to start', () => site.runs().length === 1)
  assert.equal(site.schedule().status, 'due')
  await site.stop()

  await site.start()
  await site.pass(minuteMs)

  const { last_run, last_skip } = site.schedule()
  const [run, ...more] = site.runs()
  assert.deepEqual(more, [])
  assert.deepEqual([last_run, last_skip], [{ scheduled_for: at('10:00'), job_id: run!.id }, null])
})

/** A schedule of every half hour that has run at ten. */
async function openAtTen(t: TestContext) {
  const site = await openCronSite(t, { at: at('09:50') })
  await site.add()
  await site.pass(12 * minuteMs)
  assert.deepEqual(site.instants(), [at('10:00')])
  return site
}

test('clock set forward by an hour: the latest time runs and the previous one is reported', async (t) => {
  const site = await openAtTen(t)
  site.time.set(at('11:02'))
  await site.pass(minuteMs)
  assert.deepEqual(site.instants(), [at('10:00'), at('11:00')])
  assert.equal(site.schedule().last_skip?.scheduled_for, at('10:30'))

  await site.pass(60 * minuteMs)

  assert.deepEqual(site.instants().slice(2), [at('11:30'), at('12:00')])
})

test('clock set back by an hour: nothing runs twice, and the next displayed time runs', async (t) => {
  const site = await openAtTen(t)
  site.time.set(at('09:02'))
  await site.pass(minuteMs)
  assert.deepEqual(site.instants(), [at('10:00')])

  // 9:30 was before the schedule was created. The clock now reaches it for the first time.
  await site.pass(120 * minuteMs)

  assert.deepEqual(site.instants(), [at('10:00'), at('09:30'), at('10:30'), at('11:00')])
  assert.equal(site.schedule().last_skip, null)
})

test('a machine that boots with an old clock runs nothing older than the missed times', async (t) => {
  const site = await openAtTen(t)
  await site.stop()
  site.time.set('1970-01-01T00:00:05.000Z')
  await site.start()
  await site.pass(minuteMs)
  assert.deepEqual(site.instants(), [at('10:00')])

  site.time.set(at('12:04'))
  await site.pass(minuteMs)

  assert.deepEqual(site.instants(), [at('10:00'), at('12:00')])
  assert.match(site.schedule().last_skip!.reason, /from 2026-01-10T10:30:.* to 2026-01-10T11:30:/)
})

for (const [what, byMs] of [
  ['back by 5 ms', -5],
  ['forward by 5 ms', 5],
  ['back by a second', -1000],
] as const) {
  test(`clock corrected ${what} exactly at a scheduled time: each time runs once`, async (t) => {
    const site = await openCronSite(t, { at: at('09:50'), service: { schedule: '* * * * *' } })
    await site.add()
    for (let count = 1; count <= 5; count++) {
      while (site.runs().length < count) await site.pass(site.time.restMs)
      site.time.setBy(byMs)
    }
    await site.pass(5 * minuteMs)

    const instants = site.instants().map((instant) => Date.parse(instant!))
    const gaps = instants.slice(1).map((instant, index) => instant - instants[index]!)
    assert.ok(gaps.length >= 8)
    assert.deepEqual([...new Set(gaps)], [minuteMs])
    assert.equal(site.schedule().last_skip, null)
  })
}
