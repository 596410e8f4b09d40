// The chart of reports to a git provider: what it sends, what is refused, and when it gives up.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type CommitStatusRecord,
  type CommitStatusSnapshot,
  machine,
  toRecord,
} from '../../machines/commit-status.ts'
import {
  continueFrom,
  forever,
  pathOf,
  type Run,
  runMachine,
  type TestEffect,
} from '../support/machines/machine-run.ts'

const at = '2026-01-01T00:00:00.000Z'
const hours = (count: number) => new Date(Date.parse(at) + count * 3_600_000).toISOString()
const own = { id: 'sta-1', serviceId: 'svc-1', deployId: 'dep-1' }
const place = { connectionId: 'git-1', repository: 'ada/shop', label: 'berth/shop' }
const news = { at, hasEnded: false }
const sent = (state: string | null, isFinal = false) => ({ at, state, isFinal, refusal: null })
const refusal = { code: 'git_authorization_rejected', message: 'it may not' }
const failure = (when = at, details = {}) => ({
  code: 'git_provider_unavailable',
  message: 'it is away',
  at: when,
  details,
})

/** Returns or throws these in order, then waits. */
function inTurn(...responses: object[]): TestEffect {
  let count = 0
  return (_, signal) => {
    const response = responses[count++]
    if (response === undefined) return forever(signal)
    return 'details' in response ? Promise.reject(response) : Promise.resolve(response)
  }
}

const asMade: CommitStatusRecord = {
  id: 'sta-1',
  service_id: 'svc-1',
  deploy_id: 'dep-1',
  status: 'following',
  phase: null,
  connection_id: 'git-1',
  repository: 'ada/shop',
  label: 'berth/shop',
  reported: null,
  error: null,
  error_code: null,
  error_details: null,
  next_attempt_at: null,
  created_at: at,
  finished_at: null,
}
const refused = { error: 'it may not', error_code: 'git_authorization_rejected' as const }
const away = { error: 'it is away', error_code: 'git_provider_unavailable' as const, error_details: {} }
const pending = { ...asMade, phase: 'sent pending', reported: 'pending' as const }

interface Telling {
  effects: Record<string, TestEffect>
  states: string[]
  record: CommitStatusRecord
}

/** The states and the record after these steps. */
const views: Record<string, () => Telling> = {
  'has nothing to send yet': () => ({ effects: {}, states: ['following'], record: asMade }),
  'is about to send': () => ({
    effects: { awaitNews: inTurn(news) },
    states: ['following', 'sending'],
    record: { ...asMade, status: 'sending' },
  }),
  'has sent that the deploy is queued': () => ({
    effects: { awaitNews: inTurn(news), sendStatus: inTurn(sent('pending')) },
    states: ['following', 'sending', 'following'],
    record: pending,
  }),
  'has sent how the deploy ended': () => ({
    effects: { awaitNews: inTurn(news, news), sendStatus: inTurn(sent('pending'), sent('success', true)) },
    states: ['following', 'sending', 'following', 'sending', 'delivered'],
    record: {
      ...pending,
      status: 'delivered',
      phase: 'sent success',
      reported: 'success',
      finished_at: at,
    },
  }),
  'finds that another deploy reports': () => ({
    effects: { awaitNews: inTurn({ at, hasEnded: true }) },
    states: ['following', 'ended'],
    record: { ...asMade, status: 'ended', finished_at: at },
  }),
  'finds that another deploy reports when it sends': () => ({
    effects: { awaitNews: inTurn(news), sendStatus: inTurn(sent(null, true)) },
    states: ['following', 'sending', 'ended'],
    record: { ...asMade, status: 'ended', finished_at: at },
  }),
  'was refused, and follows the deploy': () => ({
    effects: { awaitNews: inTurn(news), sendStatus: inTurn({ ...sent('pending'), refusal }) },
    states: ['following', 'sending', 'following'],
    record: { ...pending, ...refused, phase: 'pending was refused: it may not' },
  }),
  'was refused at the end': () => ({
    effects: { awaitNews: inTurn(news), sendStatus: inTurn({ ...sent('failure', true), refusal }) },
    states: ['following', 'sending', 'failed'],
    record: {
      ...asMade,
      ...refused,
      status: 'failed',
      phase: 'failure was refused: it may not',
      reported: 'failure',
      finished_at: at,
    },
  }),
  'waits after a failure': () => ({
    effects: { awaitNews: inTurn(news), sendStatus: inTurn(failure()) },
    states: ['following', 'sending', 'waiting'],
    record: {
      ...asMade,
      ...away,
      status: 'waiting',
      phase: 'failed: it is away',
      next_attempt_at: '2026-01-01T00:00:10.000Z',
    },
  }),
  'waits as long as the provider asks': () => ({
    effects: { awaitNews: inTurn(news), sendStatus: inTurn(failure(at, { retry_after_ms: 7_200_000 })) },
    states: ['following', 'sending', 'waiting'],
    record: {
      ...asMade,
      ...away,
      error_details: { retry_after_ms: 7_200_000 },
      status: 'waiting',
      phase: 'failed: it is away',
      next_attempt_at: hours(2),
    },
  }),
  'sends again after a failure': () => ({
    effects: {
      awaitNews: inTurn(news),
      sendStatus: inTurn(failure(), sent('pending')),
      awaitRetry: inTurn({ at, isGone: false }),
    },
    states: ['following', 'sending', 'waiting', 'sending', 'following'],
    record: pending,
  }),
  'gives up half a day after the first failure': () => ({
    effects: {
      awaitNews: inTurn(news),
      sendStatus: inTurn(failure(), failure(hours(12))),
      awaitRetry: inTurn({ at, isGone: false }),
    },
    states: ['following', 'sending', 'waiting', 'sending', 'failed'],
    record: {
      ...asMade,
      ...away,
      status: 'failed',
      phase: 'failed: it is away',
      next_attempt_at: '2026-01-01T12:00:20.000Z',
      finished_at: hours(12),
    },
  }),
  'does not outlast its service': () => ({
    effects: {
      awaitNews: inTurn(news),
      sendStatus: inTurn(failure()),
      awaitRetry: inTurn({ at, isGone: true }),
    },
    states: ['following', 'sending', 'waiting', 'failed'],
    record: { ...asMade, ...away, status: 'failed', phase: 'failed: it is away', finished_at: at },
  }),
}

const recordOf = ({ actor }: Run) => toRecord(actor.getSnapshot() as CommitStatusSnapshot)
const tick = () => new Promise((resolve) => setImmediate(resolve))

for (const [what, tell] of Object.entries(views)) {
  test(`a report that ${what} shows just that, and continues from there`, async () => {
    const { effects, states, record } = tell()
    const whole = runMachine(machine, effects, { input: { ...own, ...place, at } })
    for (let turns = 0; turns < 6; turns++) await tick()
    assert.deepEqual([whole.states, recordOf(whole)], [states, record])
    const snapshot = whole.snapshots.at(-1)!
    whole.actor.stop()
    const { run, requests } = await continueFrom(machine, snapshot)

    assert.deepEqual([pathOf(run.actor.getSnapshot().value), recordOf(run)], [states.at(-1), record])
    const hasWarned = record.error !== null
    const inputs: Record<string, unknown> = {
      following: ['awaitNews', { ...own, reported: record.reported }],
      sending: ['sendStatus', { ...own, ...place, hasWarned }],
      waiting: [
        'awaitRetry',
        {
          connectionId: 'git-1',
          id: 'sta-1',
          serviceId: 'svc-1',
          wakeAt: Date.parse(record.next_attempt_at ?? at),
        },
      ],
    }
    const input = inputs[states.at(-1)!]
    assert.deepEqual(requests, input === undefined ? [] : [input])
    run.actor.stop()
  })
}
