// The chart of an alert: which messages people get, and which they do not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type AlertInput,
  type AlertSnapshot,
  type Announcement,
  machine,
  toRecord,
} from '../../machines/alert.ts'
import type { Notice } from '../../src/domain/notice.ts'
import { noticeOf } from '../../src/effects/alert/alert.ts'
import { instant } from '../support/machines/deploy-chart.ts'
import { type Run, runMachine, type TestEffect, waits } from '../support/machines/machine-run.ts'

const input: AlertInput = {
  id: 'alr-1',
  rule: 'deploy_failed',
  subject: { kind: 'service', id: 'svc-1', name: 'shop' },
  serviceId: 'svc-1',
  link: '/services/shop',
  severity: 'warning',
  title: 'A deploy of shop failed',
  body: 'it does not start',
  command: 'berth why dep-1',
  count: 1,
  number: 7,
  calmMs: 60_000,
  fades: false,
  flaps: 0,
  at: instant,
}
const passes: TestEffect = async () => ({ at: instant })
const repeat = {
  type: 'repeat',
  at: instant,
  count: 1,
  number: 8,
  severity: 'warning',
  title: 'A deploy of shop failed',
  body: 'again',
}
const clear = { type: 'clear', at: instant, number: 9, reason: 'a deploy is live', isFinal: false }
const acknowledge = { type: 'acknowledge', at: instant, by: 'Ada' }

function start(effects: Record<string, TestEffect> = {}, changes: Partial<AlertInput> = {}) {
  const notices: Notice[] = []
  const announce: TestEffect = async (announcement) => {
    notices.push(noticeOf(announcement as unknown as Announcement))
    return { at: instant }
  }
  const whole = { announce, awaitInstant: waits, ...effects }
  const run = runMachine(machine, whole, { input: { ...input, ...changes } })
  return { ...run, notices }
}
const recordOf = ({ actor }: Pick<Run, 'actor'>) => toRecord(actor.getSnapshot() as AlertSnapshot)
const told = (notices: Notice[]) => notices.map(({ id, count }) => [id, count])
const soon = () => new Promise((resolve) => setTimeout(resolve, 1))

test('a broken rule is told once, and its end once', async () => {
  const run = start({ awaitInstant: passes })
  await run.reached('raised.quiet')
  run.actor.send(clear)
  await run.reached('recovered')
  assert.deepEqual(run.states, ['announcing', 'raised.quiet', 'settling', 'recovering', 'recovered'])
  assert.deepEqual(run.notices[0], {
    id: 'alr-1:raised',
    event: 'alert.raised',
    at: instant,
    severity: 'warning',
    code: 'deploy_failed',
    title: 'A deploy of shop failed',
    body: 'it does not start\nberth why dep-1\nberth alerts show alr-1',
    subject: input.subject,
    count: 1,
    link: '/services/shop',
  })
  assert.equal(run.notices[1]?.title, 'Recovered: A deploy of shop failed')
  assert.equal(run.notices[1]?.body, 'a deploy is live\nberth alerts show alr-1')
  const { status, count, recovered_at, number } = recordOf(run)
  assert.deepEqual([status, count, recovered_at, number], ['recovered', 1, instant, 9])
})

test('a thousand equal events make three messages, and the record has their number', async () => {
  let end: () => void = () => undefined
  const gathered = new Promise<void>((resolve) => {
    end = resolve
  })
  const awaitInstant: TestEffect = async () => {
    await gathered
    return { at: instant }
  }
  const run = start({ awaitInstant })
  await run.reached('raised.quiet')
  for (let event = 1; event < 1000; event++) {
    run.actor.send(repeat)
    // Every second event is followed by a short recovery.
    if (event % 2 === 0) run.actor.send(clear)
  }
  run.actor.send(repeat)
  assert.equal(recordOf(run).count, 1001)
  end()
  await soon()
  run.actor.send(clear)
  await run.reached('recovered')
  assert.deepEqual(told(run.notices), [
    ['alr-1:raised', 1],
    ['alr-1:raised:1001:warning', 1001],
    ['alr-1:recovered', 1001],
  ])
})

test('a rule that is kept only for a moment stays broken', async () => {
  const run = start()
  await run.reached('raised.quiet')
  run.actor.send(clear)
  assert.deepEqual([recordOf(run).status, recordOf(run).cleared_at], ['raised', instant])
  run.actor.send(repeat)
  assert.deepEqual([run.states.at(-1), recordOf(run).cleared_at], ['raised.gathering', null])
  run.actor.stop()
})

test('what happens during a message changes nothing of it, and is not lost', async () => {
  const run = start({ awaitInstant: passes })
  run.actor.send(acknowledge)
  run.actor.send(clear)
  assert.equal(run.states.at(-1), 'announcing')
  await run.reached('recovered')
  assert.deepEqual(told(run.notices), [
    ['alr-1:raised', 1],
    ['alr-1:recovered', 1],
  ])
  assert.equal(recordOf(run).acknowledged_by, 'Ada')
})

test('an acknowledged alert counts in silence, unless it becomes worse', async () => {
  const run = start()
  await run.reached('raised.quiet')
  run.actor.send(acknowledge)
  await run.reached('acknowledged')
  run.actor.send(repeat)
  await soon()
  assert.deepEqual(told(run.notices).slice(1), [['alr-1:acknowledged', 1]])
  run.actor.send({ ...repeat, severity: 'problem' })
  await soon()
  assert.deepEqual(run.notices.at(-1)?.severity, 'problem')
  const { status, count, severity } = recordOf(run)
  assert.deepEqual({ status, count, severity }, { status: 'acknowledged', count: 3, severity: 'problem' })
  run.actor.stop()
})

test('an alert that fades ends without a further message', async () => {
  const run = start({ awaitInstant: passes }, { fades: true })
  await run.reached('recovered')
  assert.deepEqual(told(run.notices), [['alr-1:raised', 1]])
})

test('further events of an alert that fades are told too', async () => {
  const run = start({}, { fades: true })
  await run.reached('settling')
  run.actor.send(repeat)
  assert.equal(run.states.at(-1), 'raised.gathering')
  run.actor.stop()
})

test('the end of its subject ends an alert without a wait', async () => {
  const wakes: unknown[] = []
  const awaitInstant: TestEffect = async ({ wakeAt }, signal) => {
    wakes.push(wakeAt)
    return wakes.length === 1 ? waits({}, signal) : { at: instant }
  }
  const run = start({ awaitInstant })
  await run.reached('raised.quiet')
  run.actor.send(clear)
  run.actor.send(clear)
  run.actor.send({ ...clear, reason: 'it was deleted', isFinal: true })
  await run.reached('recovered')
  const begun = Date.parse(instant)
  assert.deepEqual(wakes, [begun + 60_000, begun])
  assert.match(run.notices.at(-1)?.body ?? '', /^it was deleted/)
})

test('summaries come after a minute, an hour and a day', async () => {
  const wakes: unknown[] = []
  const awaitInstant: TestEffect = async ({ wakeAt }) => {
    wakes.push((Number(wakeAt) - Date.parse(instant)) / 60_000)
    return { at: instant }
  }
  const run = start({ awaitInstant })
  await run.reached('raised.quiet')
  for (let round = 0; round < 4; round++) {
    run.actor.send(repeat)
    await soon()
  }
  assert.deepEqual(wakes, [1, 60, 1440, 1440])
  run.actor.stop()
})

test('from every snapshot a fresh actor reaches the same end and repeats no finished effect', async () => {
  const effects: Record<string, TestEffect> = { announce: passes, awaitInstant: passes }
  const walk = async (run: Run) => {
    if (run.states.at(-1) === 'announcing' && run.snapshots.length <= 1) await run.reached('raised.quiet')
    if (run.states.at(-1) === 'raised.quiet') run.actor.send(acknowledge)
    if (!run.states.includes('settling')) {
      await run.reached('acknowledged').catch(() => undefined)
      run.actor.send(clear)
    }
    await run.reached('recovered')
  }
  const whole = runMachine(machine, effects, { input })
  await walk(whole)
  const alive = whole.snapshots.filter(({ status }) => status === 'active')
  assert.equal(alive.length, 6)
  for (const snapshot of alive) {
    const run = runMachine(machine, effects, { snapshot })
    if (run.states.at(-1) === 'announcing') await run.reached('raised.quiet')
    if (run.states.at(-1) === 'raised.quiet') run.actor.send(acknowledge)
    if (run.states.at(-1) === 'confirming') await run.reached('acknowledged')
    if (run.states.at(-1) === 'acknowledged') run.actor.send(clear)
    await run.reached('recovered')
    assert.deepEqual(recordOf(run), recordOf(whole))
    assert.ok(run.started.length <= whole.started.length)
  }
})
