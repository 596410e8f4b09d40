// Time zones: valid names, and the instants of wall times.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstInstantOf, instantsOf, isTimeZone, offsetMs } from '../../src/domain/schedule.ts'
import { wallClock } from '../support/system/wall-clock.ts'

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
  const places = [
    'Asia/Kolkata',
    'Europe/Kyiv',
    'America/Argentina/Buenos_Aires',
    'America/Knox_IN',
    'US/East-Indiana',
  ]
  const unusual = [
    'Australia/ACT',
    'Brazil/DeNoronha',
    'Chile/EasterIsland',
    'Etc/GMT+12',
    'Etc/GMT-0',
    'Etc/GMT0',
  ]
  const short = [
    'UTC',
    'UCT',
    'GMT',
    'GMT+0',
    'CET',
    'EST',
    'MST7MDT',
    'W-SU',
    'GB-Eire',
    'NZ-CHAT',
    'PRC',
    'Japan',
  ]
  for (const name of [...places, ...unusual, ...short]) {
    assert.ok(isTimeZone(name), name)
    assert.ok(!isTimeZone(name.toLowerCase()), name.toLowerCase())
  }
  for (const name of places) assert.ok(!isTimeZone(name.toUpperCase()), name.toUpperCase())
})

test('offsets, ambiguous abbreviations and other texts are not time zones', () => {
  const offsets = ['+02:00', '-0800', '+2', 'UTC+2', 'GMT+2', 'Etc/GMT+15']
  const abbreviations = ['BST', 'IST', 'PST', 'CST', 'ACT', 'JST', 'Z', 'SystemV/PST8']
  const texts = [
    '',
    ' ',
    'local',
    'localtime',
    'Europe',
    'Europe/',
    'Europe/Atlantis',
    'posix/Europe/Berlin',
    '../UTC',
  ]
  for (const name of [...offsets, ...abbreviations, ...texts]) assert.ok(!isTimeZone(name), name)
})

test('the offset from UTC is exact, to the second where it once was', () => {
  for (const timeZone of [
    'UTC',
    'Europe/London',
    'Asia/Kathmandu',
    'America/St_Johns',
    'Pacific/Kiritimati',
  ]) {
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
