// Schedules in time zones on days with clock changes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { latestTime, nextTime } from '../../src/domain/schedule.ts'
import { sized } from '../support/system/drill-size.ts'
import {
  anySchedule,
  changesBetween,
  dayMs,
  dueIn,
  type Minute,
  minuteMs,
  minutesBetween,
  wallClock,
} from '../support/system/wall-clock.ts'

const years: [number, number] = [Date.UTC(2026), Date.UTC(2028)]

// One of each kind of change, and unusual ones: half hours, two hours, midnights, skipped days, Ramadan.
const unusualYears = {
  'Europe/Berlin': 2026,
  'America/New_York': 2026,
  'America/Havana': 2026,
  'America/Santiago': 2026,
  'Pacific/Chatham': 2026,
  'Australia/Lord_Howe': 2026,
  'Antarctica/Troll': 2026,
  'Africa/Cairo': 2026,
  'Africa/Casablanca': 2026,
  'Asia/Beirut': 2026,
  'America/Sao_Paulo': 2018,
  'Asia/Pyongyang': 2015,
  'Pacific/Apia': 2011,
  'America/Caracas': 2007,
  'Pacific/Kwajalein': 1993,
  'Asia/Kathmandu': 1986,
}

/** The times from an instant until another, in order. */
function timesBetween(schedule: string, timeZone: string, from: number, to: number): number[] {
  const times: number[] = []
  let time = nextTime(schedule, new Date(from - 1), timeZone)
  for (; time !== null && time.getTime() < to; time = nextTime(schedule, time, timeZone))
    times.push(time.getTime())
  return times
}

const toText = (times: number[]) => times.map((time) => new Date(time).toISOString().slice(5, 16))

// Vixie's rule.
const around = {
  'Europe/Berlin 2026-03-28 */30 2 * * *': ['03-28T01:00', '03-28T01:30', '03-29T01:00', '03-30T00:00'],
  'Europe/Berlin 2026-10-25 */30 2 * * *': ['10-25T00:00', '10-25T00:30', '10-26T01:00', '10-26T01:30'],
  'Europe/Berlin 2026-03-29 30 1-4 * * *': ['03-29T00:30', '03-29T01:00', '03-29T01:30', '03-29T02:30'],
  'Europe/Berlin 2026-10-25 30 1-4 * * *': ['10-25T00:30', '10-25T02:30', '10-25T03:30', '10-26T00:30'],
  'Europe/Berlin 2026-03-29 15,45 2,3 * * *': ['03-29T01:00', '03-29T01:15', '03-29T01:45', '03-30T00:15'],
  'Europe/Berlin 2026-10-25 15,45 2,3 * * *': ['10-25T00:15', '10-25T00:45', '10-25T02:15', '10-25T02:45'],
  'Europe/Berlin 2026-10-25 0,30 0-23 * * *': ['10-25T00:00', '10-25T00:30', '10-25T02:00', '10-25T02:30'],
  'Europe/Berlin 2026-03-29 */30 * * * *': ['03-29T00:00', '03-29T00:30', '03-29T01:00', '03-29T01:30'],
  'Europe/Berlin 2026-10-25 0 */2 * * *': ['10-25T00:00', '10-25T01:00', '10-25T03:00', '10-25T05:00'],
  'Europe/Berlin 2026-10-25 @hourly': ['10-25T00:00', '10-25T01:00', '10-25T02:00', '10-25T03:00'],
  'Europe/Berlin 2026-10-25 @midnight': ['10-25T23:00', '10-26T23:00', '10-27T23:00', '10-28T23:00'],
  'America/New_York 2026-03-08 59 2 * * *': ['03-08T07:00', '03-09T06:59', '03-10T06:59', '03-11T06:59'],
  'Australia/Lord_Howe 2026-10-03 15 2 * * *': ['10-03T15:30', '10-04T15:15', '10-05T15:15', '10-06T15:15'],
  'Australia/Lord_Howe 2026-04-04 45 1 * * *': ['04-04T14:45', '04-05T15:15', '04-06T15:15', '04-07T15:15'],
  'America/Sao_Paulo 2018-11-03 0 0 * * *': ['11-03T03:00', '11-04T03:00', '11-05T02:00', '11-06T02:00'],
  'Africa/Cairo 2026-04-23 0,30 0,1 * * *': ['04-23T22:00', '04-23T22:30', '04-24T21:00', '04-24T21:30'],
  'Pacific/Apia 2011-12-29 0 12 * * *': ['12-29T22:00', '12-30T10:00', '12-30T22:00', '12-31T22:00'],
}

test('across a clock change a time of day occurs once, and intervals follow elapsed time', () => {
  for (const [title, expected] of Object.entries(around)) {
    const [timeZone = '', day = '', ...fields] = title.split(' ')
    const [schedule, from] = [fields.join(' '), Date.parse(day)]
    const times = toText(timesBetween(schedule, timeZone, from, from + 7 * dayMs))
    assert.deepEqual(times.slice(0, expected.length), expected, title)
  }
})

interface Window {
  title: string
  timeZone: string
  change: number
  minutes: Minute[]
}

function windowsAround(): Window[] {
  return Object.entries(unusualYears).flatMap(([timeZone, year]) =>
    changesBetween(timeZone, Date.UTC(year), Date.UTC(year + 1)).map((change) => {
      const minutes = minutesBetween(timeZone, change - 2 * dayMs, change + 2 * dayMs)
      return { title: `${timeZone} ${toText([change])}`, timeZone, change, minutes }
    }),
  )
}

/** Sample instants: at and around the change, around the nearest times, and others. */
function sampleInstants({ change }: Window, due: number[], drawn: number[]): number[] {
  const near = due.toSorted((a, b) => Math.abs(a - change) - Math.abs(b - change)).slice(0, 6)
  const others = drawn.map((minute) => change + minute * minuteMs)
  return [change, ...near, ...others].flatMap((at) => [at - 1, at, at + 1])
}

/** The latest and the next time as seen from an instant, if they are inside the window. */
function neighbors(
  schedule: string,
  requested: number,
  { timeZone, minutes }: Window,
): (number | undefined)[] {
  const isWithin = (time: number) => time >= minutes.at(0)!.instant && time <= minutes.at(-1)!.instant
  const latest = latestTime(schedule, new Date(requested), timeZone)
  const next = nextTime(schedule, new Date(requested), timeZone)
  return [latest, next]
    .map((time) => time?.getTime())
    .map((time) => (time && isWithin(time) ? time : undefined))
}

test('around every clock change each schedule matches a minute-by-minute reading of the clock', () => {
  const windows = windowsAround()
  assert.ok(windows.length > Object.keys(unusualYears).length, 'there are changes to try')
  const windowIndex = fc.nat(windows.length - 1)
  const drawn = fc.array(fc.integer({ min: -2000, max: 2000 }), { minLength: 4, maxLength: 4 })
  const property = fc.property(windowIndex, anySchedule(), drawn, (index, schedule, others) => {
    const window = windows[index]!
    const due = dueIn(schedule, window.minutes)
    for (const requested of sampleInstants(window, due, others)) {
      const expected = [due.findLast((time) => time <= requested), due.find((time) => time > requested)]
      const from = `${schedule.text} in ${window.title}, from ${new Date(requested).toISOString()}`
      assert.deepEqual(neighbors(schedule.text, requested, window), expected, from)
    }
  })
  fc.assert(property, { numRuns: sized(15, 150) })
})

/** The calendar days on which clocks show that time of day between the two instants. */
function daysBetween(timeZone: string, timeOfDayMs: number, from: number, to: number): number[] {
  const [first, last] = [from, to].map(wallClock(timeZone)) as [number, number]
  const days: number[] = []
  for (let day = Math.floor(first / dayMs); day * dayMs + timeOfDayMs < last; day++) {
    if (day * dayMs + timeOfDayMs >= first) days.push(day)
  }
  return days
}

test('a time of day occurs once on every day of the calendar, in time zones of the whole world', () => {
  const timeZones = Intl.supportedValuesOf('timeZone').filter((_, index) => index % sized(10, 1) === 0)
  for (const timeZone of timeZones) {
    for (const change of [...changesBetween(timeZone, ...years), Date.UTC(2027)]) {
      const noon = Math.floor(change / dayMs) * dayMs + dayMs / 2
      const days: [number, number] = [noon - 2 * dayMs, noon + 2 * dayMs]
      for (const [schedule, minute] of [
        ['0 0 * * *', 0],
        ['30 2 * * *', 150],
      ] as const) {
        const seen = timesBetween(schedule, timeZone, ...days).map(wallClock(timeZone))
        const expected = daysBetween(timeZone, minute * minuteMs, ...days)
        assert.deepEqual(
          seen.map((wall) => Math.floor(wall / dayMs)),
          expected,
          `${schedule} in ${timeZone}`,
        )
      }
    }
  }
})
