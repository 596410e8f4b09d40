// Schedules: which are valid, and when they are due.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { latestTime, nextTime, parseSchedule } from '../../src/domain/schedule.ts'

const next = (schedule: string, after: string) => nextTime(schedule, new Date(after))?.toISOString() ?? null
const latest = (schedule: string, at: string) => latestTime(schedule, new Date(at))?.toISOString() ?? null

test('five fields and the cron keywords are schedules, and have one normal form', () => {
  const normal = {
    '0 3 * * *': '0 3 * * *',
    '  0   3 *\t* * ': '0 3 * * *',
    '*/15 0-6,22 1 jan,JUL mon-fri': '*/15 0-6,22 1 jan,JUL mon-fri',
    '0 0 29 2 *': '0 0 29 2 *',
    '@hourly': '@hourly',
    ' @daily ': '@daily',
    '@weekly': '@weekly',
    '@monthly': '@monthly',
    '@yearly': '@yearly',
    '@annually': '@annually',
    '@midnight': '@midnight',
    '0 0 L * *': '0 0 L * *',
    '0 0 * * THU,friL': '0 0 * * THU,friL',
    '0 0 ? * mon#2': '0 0 ? * mon#2',
  }
  for (const [typed, form] of Object.entries(normal)) assert.equal(parseSchedule(typed), form, typed)
})

test('anything else is invalid, including seconds and unknown keywords', () => {
  const others = ['', ' ', 'daily', '@reboot', '@every 5m', '@secondly', '@minutely', '@Daily', '@daily x']
  const counts = ['*', '* * * *', '0 0 3 * * *', '* * * * * *']
  const values = [
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * * 13 *',
    '* * * * 8',
    '-1 * * * *',
    'a b c d e',
  ]
  for (const text of [...others, ...counts, ...values]) assert.equal(parseSchedule(text), null, text)
})

test('a random value is not a schedule: it would differ each time', () => {
  for (const text of [
    'H * * * *',
    '0 H * * *',
    '0 0 H * *',
    '0 0 * H *',
    '0 0 * * H',
    'H/5 * * * *',
    '5,H(0-9) * * * *',
  ]) {
    assert.equal(parseSchedule(text), null, text)
    assert.equal(next(text, '2026-01-01T00:00:00Z'), null, text)
    assert.equal(latest(text, '2026-01-01T00:00:00Z'), null, text)
  }
})

test('a date that never occurs is not a schedule', () => {
  for (const text of ['0 0 30 2 *', '0 0 31 4,6,9,11 *', '0 0 31 2 *']) {
    assert.equal(parseSchedule(text), null, text)
    assert.equal(next(text, '2026-01-01T00:00:00Z'), null, text)
  }
})

test('the next time is in UTC and after the given one', () => {
  assert.equal(next('0 3 * * *', '2026-01-01T02:59:59.999Z'), '2026-01-01T03:00:00.000Z')
  assert.equal(next('0 3 * * *', '2026-01-01T03:00:00.000Z'), '2026-01-02T03:00:00.000Z')
  assert.equal(next('@hourly', '2026-01-01T23:30:00Z'), '2026-01-02T00:00:00.000Z')
  assert.equal(next('@weekly', '2026-01-01T00:00:00Z'), '2026-01-04T00:00:00.000Z')
  assert.equal(next('@monthly', '2026-01-15T00:00:00Z'), '2026-02-01T00:00:00.000Z')
  assert.equal(next('@yearly', '2026-01-01T00:00:00Z'), '2027-01-01T00:00:00.000Z')
  assert.equal(next('0 0 29 2 *', '2026-01-01T00:00:00Z'), '2028-02-29T00:00:00.000Z')
})

test('the latest time is at or before the given one', () => {
  assert.equal(latest('0 3 * * *', '2026-01-02T02:59:59.999Z'), '2026-01-01T03:00:00.000Z')
  assert.equal(latest('0 3 * * *', '2026-01-02T03:00:00.000Z'), '2026-01-02T03:00:00.000Z')
  assert.equal(latest('0 3 * * *', '2026-01-02T03:00:00.999Z'), '2026-01-02T03:00:00.000Z')
  assert.equal(latest('@hourly', '2026-01-01T00:30:00Z'), '2026-01-01T00:00:00.000Z')
  assert.equal(latest('@annually', '2026-12-31T23:59:59Z'), '2026-01-01T00:00:00.000Z')
  assert.equal(latest('0 0 29 2 *', '2028-02-28T00:00:00Z'), '2024-02-29T00:00:00.000Z')
  assert.equal(latest('0 0 31 2 *', '2026-01-01T00:00:00Z'), null)
})

test('each next time is the latest time at itself, also for days counted from either end', () => {
  for (const schedule of [
    '0 0 L * *',
    '30 4 * * 5L',
    '15 */6 * * 1#2',
    '0 12 ? 2 mon#5',
    '*/7 3-5 1,15 * wed',
    '@weekly',
  ]) {
    let time = nextTime(schedule, new Date('2026-01-01T00:00:00Z'), 'Asia/Kathmandu')!
    for (let count = 0; count < 20; count++) {
      const following = nextTime(schedule, time, 'Asia/Kathmandu')!
      assert.ok(following > time, schedule)
      assert.deepEqual(latestTime(schedule, following, 'Asia/Kathmandu'), following, schedule)
      assert.deepEqual(
        latestTime(schedule, new Date(following.getTime() - 1), 'Asia/Kathmandu'),
        time,
        schedule,
      )
      time = following
    }
  }
})

test('expressions follow the clock of the zone, and an unknown zone has no times', () => {
  const after = new Date('2026-06-01T00:00:00Z')
  const inKolkata = (word: string) => nextTime(word, after, 'Asia/Kolkata')?.toISOString()
  const midnight = '2026-06-01T18:30:00.000Z'
  assert.deepEqual([inKolkata('@daily'), inKolkata('@midnight')], [midnight, midnight])
  assert.equal(inKolkata('@hourly'), '2026-06-01T00:30:00.000Z')
  assert.equal(inKolkata('@annually'), '2026-12-31T18:30:00.000Z')
  for (const zone of ['', 'local', 'Europe/Atlantis', 'BST', '+02:00']) {
    assert.deepEqual([nextTime('@daily', after, zone), latestTime('@daily', after, zone)], [null, null], zone)
  }
})

test('no hour is skipped or doubled when the clock of the host changes', (t) => {
  const zone = process.env.TZ
  t.after(() => (zone === undefined ? delete process.env.TZ : Object.assign(process.env, { TZ: zone })))
  for (const TZ of ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe']) {
    process.env.TZ = TZ
    for (const day of ['2026-03-08', '2026-03-29', '2026-10-25', '2026-11-01']) {
      let at = `${day}T00:00:00.000Z`
      for (let hour = 1; hour < 24; hour++) {
        at = next('30 * * * *', at)!
        assert.equal(at, `${day}T${String(hour - 1).padStart(2, '0')}:30:00.000Z`, TZ)
      }
      assert.equal(next('30 2 * * *', `${day}T00:00:00.000Z`), `${day}T02:30:00.000Z`, TZ)
    }
  }
})
