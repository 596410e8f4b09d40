// Schedules through two years in four time zones, and the whole chart through both changes of summer time.
// The expected instants come from another implementation of cron.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cron } from 'croner'
import type { DueRun, SchedulePlan } from '../../../machines/cron-schedule.ts'
import { awaitInstant, type Clock } from '../../../src/effects/cron-schedule/cron-schedule.ts'
import type { Storage } from '../../../storage/index.ts'
import { openCronSite } from '../../support/effects/cron-site.ts'
import { standIn } from '../../support/effects/stand-in.ts'
import { serviceRow } from '../../support/storage/store-fixtures.ts'
import { sized } from '../../support/system/drill-size.ts'

const hourMs = 3_600_000
const neverAborted = new AbortController().signal

function instantsOf(schedule: string, timezone: string, from: string, to: string): string[] {
  const cron = new Cron(schedule, { timezone, paused: true })
  const instants: string[] = []
  for (let at = cron.nextRun(new Date(from)); at && at <= new Date(to); at = cron.nextRun(at)) {
    instants.push(at.toISOString())
  }
  return instants
}

/** Pauses end at once. A full pause continues to the next instant, and earlier ones are noticed then. */
function immediateClock(from: string, instants: string[]): Clock {
  const ends = instants.map((at) => Date.parse(at))
  let now = Date.parse(from)
  return {
    now: () => now,
    async pause(_listen, durationMs) {
      while (ends[0] !== undefined && ends[0] <= now) ends.shift()
      if (ends[0] === undefined) throw new Error('the last instant came and was not noticed')
      now = durationMs === 30_000 ? ends[0] : now + durationMs
    },
  }
}

/** The instants that are due by that plan, one wait after the other, as in the chart. */
async function collectDues(
  { schedule, timezone }: { schedule: string; timezone: string },
  from: string,
  instants: string[],
) {
  const plan: SchedulePlan = { schedule, timezone, isSuspended: false }
  const row = serviceRow({ type: 'cron_job', schedule, timezone })
  const storage = standIn<Storage>({
    services: { get: () => row },
    changes: { subscribe: () => () => undefined },
    ids: { newId: () => 'job-1' },
  })
  const ports = { storage, clock: immediateClock(from, instants) }
  const dues: [at: string, due: DueRun][] = []
  let since = from
  let used: string[] = []
  for (const _ of instants) {
    const step = await awaitInstant(ports, { serviceId: 'svc-1', plan, since, used }, neverAborted)
    assert.ok('due' in step)
    dues.push([step.at, step.due])
    since = step.due.instant
    used = [...used, since].slice(-100)
  }
  return dues
}

const zones = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata']
const twoYears = ['30 2 * * *', '0 3 * * 1', '0 */6 * * *']

for (const timezone of sized(zones.slice(0, 1), zones)) {
  // Frequent schedules are tested in one zone only, because they take long and use the same code.
  for (const schedule of timezone === 'Europe/Berlin'
    ? sized(twoYears.slice(0, 1), twoYears)
    : twoYears.slice(0, 2)) {
    test(`${schedule} in ${timezone} fires for two years exactly when it is due`, async () => {
      const from = '2026-02-01T00:00:00.000Z'
      const instants = instantsOf(schedule, timezone, from, '2028-02-01T00:00:00.000Z')
      assert.ok(instants.length >= 104)

      const dues = await collectDues({ schedule, timezone }, from, instants)

      const expected = instants.map((instant) => [instant, { instant, runId: 'job-1', missed: null }])
      assert.deepEqual(dues, expected)
    })
  }
}

/** When clocks change, and how many instants are near the change. */
const changes: [timezone: string, schedule: string, changedAt: string, count: number][] = [
  ['Europe/Berlin', '*/30 * * * *', '2026-03-29T01:00:00.000Z', 16],
  ['Europe/Berlin', '*/30 * * * *', '2026-10-25T01:00:00.000Z', 16],
  ['America/New_York', '30 2 * * *', '2026-03-08T07:00:00.000Z', 1],
  ['America/New_York', '30 1 * * *', '2026-11-01T06:00:00.000Z', 1],
  ['Australia/Lord_Howe', '15 2 * * *', '2026-10-03T15:30:00.000Z', 1],
  ['Australia/Lord_Howe', '45 1 * * *', '2026-04-04T15:00:00.000Z', 1],
]

for (const [timezone, schedule, changedAt, count] of changes) {
  test(`${schedule} in ${timezone} fires correctly around ${changedAt}`, async (t) => {
    const from = new Date(Date.parse(changedAt) - 4 * hourMs).toISOString()
    const to = new Date(Date.parse(changedAt) + 4 * hourMs).toISOString()
    const started: [instant: string, missed: unknown, at: string][] = []
    const site = await openCronSite(t, {
      at: from,
      service: { schedule, timezone },
      beginRun: async ({ instant, missed }) => {
        const at = new Date(site.time.clock.now()).toISOString()
        started.push([instant, missed, at])
        return { at, skipped: null }
      },
    })
    await site.add()

    await site.pass(8 * hourMs)

    const instants = instantsOf(schedule, timezone, from, to)
    assert.equal(instants.length, count)
    assert.deepEqual(
      started,
      instants.map((instant) => [instant, null, instant]),
    )
  })
}
