// Clocks that are set by hand or by a time server: no scheduled time runs twice, none runs because the clock
// was set back, and the schedule continues by the new time.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openCronSite } from '../../support/effects/cron-site.ts'

const minuteMs = 60_000
const at = (time: string) => `2026-01-10T${time}:00.000Z`

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

test('clock set forward and back again: runs of the interval are not repeated', async (t) => {
  const site = await openAtTen(t)
  site.time.set(at('11:02'))
  await site.pass(minuteMs)
  site.time.set(at('10:03'))
  await site.pass(minuteMs)
  assert.deepEqual(site.instants(), [at('10:00'), at('11:00')])

  await site.pass(120 * minuteMs)

  assert.deepEqual(site.instants().slice(2), [at('10:30'), at('11:30'), at('12:00')])
})

test('clock set back, then half the way forward: nothing runs a period late', async (t) => {
  const site = await openAtTen(t)
  site.time.set(at('11:02'))
  await site.pass(60 * minuteMs)
  assert.deepEqual(site.instants().slice(1), [at('11:00'), at('11:30'), at('12:00')])
  site.time.set(at('10:03'))
  await site.pass(minuteMs)

  site.time.set(at('11:45'))
  await site.pass(minuteMs)

  assert.deepEqual(site.instants().slice(4), [])
})

test('clock set back and forward before a check: no effect', async (t) => {
  const site = await openAtTen(t)
  site.time.set(at('09:02'))
  site.time.set(at('10:02'))
  await site.pass(60 * minuteMs)
  assert.deepEqual(site.instants(), [at('10:00'), at('10:30'), at('11:00')])
})

test('clock set back and corrected: no earlier run is repeated', async (t) => {
  const site = await openAtTen(t)
  site.time.set('2025-01-01T00:00:05.000Z')
  await site.pass(minuteMs)
  site.time.set(at('10:04'))
  await site.pass(minuteMs)
  assert.deepEqual([site.instants(), site.schedule().last_skip], [[at('10:00')], null])

  await site.pass(30 * minuteMs)

  assert.deepEqual(site.instants(), [at('10:00'), at('10:30')])
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

test('a machine that slept for two periods runs the latest one once', async (t) => {
  const site = await openAtTen(t)
  site.time.setBy(70 * minuteMs)
  await site.pass(60 * minuteMs)
  assert.deepEqual(site.instants(), [at('10:00'), at('11:00'), at('11:30'), at('12:00')])
})
