// The chart of a message to people: sent at least once, tried again for about a day, and marked when it may
// arrive twice.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  machine,
  type NotificationInput,
  type NotificationSnapshot,
  toRecord,
} from '../../machines/notification.ts'
import { instant } from '../support/machines/deploy-chart.ts'
import {
  once,
  pathOf,
  type Run,
  runMachine,
  type TestEffect,
  waits,
} from '../support/machines/machine-run.ts'

const input: NotificationInput = {
  id: 'ntf-1',
  channelId: 'chn-1',
  channelName: 'ops',
  notice: {
    id: 'alt-1:raised',
    event: 'alert.raised',
    at: instant,
    severity: 'problem',
    code: 'service_memory',
    title: 'shop runs out of memory',
    body: 'berth status shop',
    subject: null,
    count: 1,
    link: null,
  },
  messageId: 'ntf-1',
  maxTries: 8,
  mayRepeat: false,
  at: instant,
}
const others = { ids: ['ntf-2', 'ntf-3'], problems: 1, warnings: 1, infos: 0, titles: ['b', 'c'] }
const turns: TestEffect = async () => ({ at: instant, process: 'one', folded: null })
const crowded: TestEffect = async () => ({ at: instant, process: 'one', folded: others })
const succeeds: TestEffect = async () => ({ at: instant })
const folds: TestEffect = async () => ({ at: instant, process: 'one' })
const sends: TestEffect = async () => ({ at: instant, ms: 5, status: 204, isRepeat: false })
const failing =
  (details: Record<string, number> = {}): TestEffect =>
  () =>
    Promise.reject({
      code: 'message_rejected',
      message: 'it answered 500',
      details: { status: 500, ms: 7, ...details },
      at: instant,
    })
const working = { awaitTurn: turns, foldOthers: folds, sendMessage: sends, awaitRetry: succeeds }

const recordOf = ({ actor }: Run) => toRecord(actor.getSnapshot() as NotificationSnapshot)
const start = (effects: Record<string, TestEffect> = {}, changes: Partial<NotificationInput> = {}) =>
  runMachine(machine, { ...working, ...effects }, { input: { ...input, ...changes } })

test('a message waits for its turn, and is delivered', async () => {
  const run = start()
  await run.reached('delivered')
  assert.deepEqual(run.states, ['queued', 'sending', 'delivered'])
  const { status, attempts, error, may_be_repeat, finished_at } = recordOf(run)
  const attempt = { at: instant, ms: 5, response_status: 204, error_code: null, error: null }
  assert.deepEqual([status, attempts, error, may_be_repeat], ['delivered', [attempt], null, false])
  assert.equal(finished_at, instant)
})

test('a message is tried eight times within a day, after increasing pauses', async () => {
  const pauses: number[] = []
  const awaitRetry: TestEffect = async ({ wakeAt }) => {
    pauses.push((Number(wakeAt) - Date.parse(instant)) / 1000)
    return { at: instant }
  }
  const run = start({ sendMessage: failing(), awaitRetry })
  await run.reached('failed')
  assert.deepEqual(pauses, [10, 60, 300, 1800, 7200, 21_600, 50_400])
  assert.ok(pauses.reduce((sum, pause) => sum + pause) <= 24 * 3600)
  const { attempts, error, error_code, finished_at } = recordOf(run)
  assert.deepEqual([attempts.length, error, error_code], [8, 'it answered 500', 'message_rejected'])
  assert.deepEqual([attempts[0]!.response_status, attempts[0]!.ms, finished_at], [500, 7, instant])
})

test('a receiver may ask for a longer pause, but not for more than an hour', async () => {
  for (const [asked, given] of [
    [30_000, 30_000],
    [1, 10_000],
    [1e9, 3_600_000],
  ]) {
    const run = start({ sendMessage: failing({ retry_after_ms: asked! }), awaitRetry: waits })
    await run.reached('waiting')
    assert.equal(Date.parse(recordOf(run).next_attempt_at!) - Date.parse(instant), given)
    run.actor.stop()
  }
})

test('a message that the receiver does not want, and a test, are not tried again', async () => {
  for (const run of [
    start({ sendMessage: failing({ is_final: 1 }) }),
    start({ sendMessage: failing() }, { maxTries: 1 }),
  ]) {
    await run.reached('failed')
    assert.equal(recordOf(run).attempts.length, 1)
  }
})

test('a message that may have arrived says so when it is sent again', async () => {
  const marks: unknown[] = []
  const sendMessage: TestEffect = async ({ mayRepeat }) => {
    marks.push(mayRepeat)
    return { at: instant, ms: 1, status: 200, isRepeat: Boolean(mayRepeat) }
  }
  const run = start({ sendMessage: once(failing({ may_have_arrived: 1 }), sendMessage) })
  await run.reached('delivered')
  assert.deepEqual(marks, [true])
  assert.equal(recordOf(run).may_be_repeat, true)
})

test('a crowded message takes along the others before it is sent', async () => {
  const taken: unknown[] = []
  const foldOthers: TestEffect = async ({ ids }) => {
    taken.push(ids)
    return { at: instant, process: 'two' }
  }
  const run = start({ awaitTurn: crowded, foldOthers })
  await run.reached('delivered')
  assert.deepEqual(run.states, ['queued', 'folding', 'sending', 'delivered'])
  assert.deepEqual([taken, recordOf(run).messages], [[others.ids], 3])
})

test('a message keeps what it took along when it is sent again', async () => {
  const sent: unknown[] = []
  const sendMessage: TestEffect = async (given) => {
    sent.push(given.folded)
    return sends(given, new AbortController().signal)
  }
  const run = start({ awaitTurn: once(crowded, turns), sendMessage: once(failing(), sendMessage) })
  await run.reached('delivered')
  assert.deepEqual(sent, [others])
})

test('a message that waits for its turn can be told of by another one; one that is sent cannot', async () => {
  const fold = { type: 'fold', at: instant, into: 'ntf-9' }
  const waiting = start({ awaitTurn: waits })
  waiting.actor.send(fold)
  assert.deepEqual([recordOf(waiting).status, recordOf(waiting).folded_into], ['folded', 'ntf-9'])
  const sending = start({ sendMessage: waits })
  await sending.reached('sending')
  sending.actor.send(fold)
  assert.equal(recordOf(sending).status, 'sending')
  sending.actor.stop()
})

test('a waiting message can be tried at once', async () => {
  const run = start({ sendMessage: once(failing(), sends), awaitRetry: waits })
  await run.reached('waiting')
  run.actor.send({ type: 'retry', at: instant, by: 'Ada' })
  await run.reached('delivered')
  assert.equal(recordOf(run).attempts.length, 2)
})

for (const [state, effects] of Object.entries({
  queued: { awaitTurn: waits },
  folding: { awaitTurn: crowded, foldOthers: waits },
  sending: { sendMessage: waits },
  waiting: { sendMessage: failing(), awaitRetry: waits },
})) {
  test(`a message is canceled with its channel while ${state}`, async () => {
    const run = start(effects)
    await run.reached(state)
    run.actor.send({ type: 'cancel', at: instant, reason: 'its channel was deleted' })
    const { status, error, error_code, next_attempt_at } = recordOf(run)
    assert.deepEqual([status, error, error_code], ['canceled', 'its channel was deleted', 'withdrawn'])
    assert.equal(next_attempt_at, null)
    assert.equal(run.actor.getSnapshot().status, 'done')
  })
}

test('a message whose channel is gone fails', async () => {
  const awaitTurn: TestEffect = () =>
    Promise.reject({ code: 'channel_gone', message: 'its channel was deleted', at: instant })
  const run = start({ awaitTurn })
  await run.reached('failed')
  assert.equal(recordOf(run).error_code, 'channel_gone')
})

test('from every snapshot a fresh actor reaches the same end', async () => {
  for (const effects of [{}, { awaitTurn: crowded }, { sendMessage: failing() }]) {
    const whole = start(effects)
    await Promise.race([whole.reached('delivered'), whole.reached('failed')])
    const end = pathOf(whole.actor.getSnapshot().value)
    for (const snapshot of whole.snapshots.slice(0, -1)) {
      const run = runMachine(machine, { ...working, ...effects }, { snapshot })
      await run.reached(end)
      assert.deepEqual(recordOf(run), recordOf(whole))
    }
  }
})
