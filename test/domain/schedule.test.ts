// Schedules: which are valid, and when they are due.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scheduleText } from '../../src/api/schedule.ts'
import {
  firstInstantOf,
  instantsOf,
  isTimeZone,
  latestTime,
  nextTime,
  offsetMs,
  parseSchedule,
} from '../../src/domain/schedule.ts'
import { wallClock } from '../support/system/wall-clock.ts'

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

const hourMs = 60 * 60_000

test('every name that Intl lists is a time zone, in its exact case only', () => {
  for (const name of Intl.supportedValuesOf('timeZone')) {
    assert.ok(isTimeZone(name), name)
    for (const other of [name.toLowerCase(), name.toUpperCase(), ` ${name}`, `${name}/`]) {
      assert.ok(other === name || !isTimeZone(other), other)
    }
  }
})

test('names that the tz database keeps as links are time zones too, in their exact case only', () => {
  const places = ['Asia/Kolkata', 'Europe/Kyiv', 'America/Argentina/Buenos_Aires', 'US/East-Indiana']
  const unusual = ['Australia/ACT', 'Brazil/DeNoronha', 'Etc/GMT+12', 'Etc/GMT-0']
  const short = ['UTC', 'GMT+0', 'CET', 'MST7MDT', 'W-SU', 'GB-Eire', 'NZ-CHAT', 'PRC', 'Japan']
  for (const name of [...places, ...unusual, ...short]) {
    assert.ok(isTimeZone(name), name)
    assert.ok(!isTimeZone(name.toLowerCase()), name.toLowerCase())
  }
  for (const name of places) assert.ok(!isTimeZone(name.toUpperCase()), name.toUpperCase())
})

test('offsets, ambiguous abbreviations and other texts are not time zones', () => {
  const offsets = ['+02:00', '-0800', '+2', 'UTC+2', 'GMT+2', 'Etc/GMT+15']
  const abbreviations = ['BST', 'IST', 'PST', 'CST', 'ACT', 'JST', 'Z', 'SystemV/PST8']
  const texts = ['', ' ', 'local', 'Europe', 'Europe/', 'Europe/Atlantis', 'posix/Europe/Berlin', '../UTC']
  for (const name of [...offsets, ...abbreviations, ...texts]) assert.ok(!isTimeZone(name), name)
})

test('the offset from UTC is exact, to the second where it once was', () => {
  for (const timeZone of ['UTC', 'Europe/London', 'Asia/Kathmandu', 'Pacific/Kiritimati']) {
    for (let instant = Date.UTC(1970); instant < Date.UTC(2030); instant += 500 * 24 * hourMs) {
      assert.equal(offsetMs(timeZone, instant), wallClock(timeZone)(instant) - instant, timeZone)
    }
  }
  assert.equal(offsetMs('Africa/Monrovia', Date.UTC(1970)), -(44 * 60 + 30) * 1000)
})

test('a local time is one instant, none in a gap and two where it repeats', () => {
  const berlin = (wall: string) => instantsOf('Europe/Berlin', Date.parse(`${wall}Z`))
  const first = (wall: string) => firstInstantOf('Europe/Berlin', Date.parse(`${wall}Z`))
  const [spring, autumn] = [Date.parse('2026-03-29T01:00Z'), Date.parse('2026-10-25T00:00Z')]
  assert.deepEqual(berlin('2026-03-29T01:59'), [spring - hourMs / 60])
  assert.deepEqual(berlin('2026-03-29T02:00'), [])
  assert.deepEqual(berlin('2026-03-29T02:59'), [])
  assert.deepEqual(berlin('2026-03-29T03:00'), [spring])
  assert.deepEqual(berlin('2026-10-25T02:00'), [autumn, autumn + hourMs])
  assert.deepEqual(berlin('2026-10-25T03:00'), [autumn + 2 * hourMs])
  assert.deepEqual([first('2026-03-29T02:00'), first('2026-03-29T02:59')], [spring, spring])
  assert.equal(first('2026-10-25T02:00'), autumn)
})

test('a character that cron does not have is named', () => {
  const { error } = scheduleText.safeParse('’0 3 * * *’')
  assert.match(error!.issues[0]!.message, /^has the character ’: it must be five cron fields/)
})
