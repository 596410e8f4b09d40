// What a reader of a history sees: moments, folded waits, restarts of the server, and repetitions.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalogue, type Kind } from '../../machines/index.ts'
import type { HistoryEntry } from '../../src/api/actor.ts'
import { causeWords, endWords, moveWords } from '../../src/dashboard/chart/causes.ts'
import { momentIndex, toMoments, toSpans } from '../../src/dashboard/chart/moments.ts'
import { toRepeats } from '../../src/dashboard/chart/repeats.ts'

const start = Date.parse('2026-11-27T14:02:00.000Z')

/** One entry per pair of seconds and start of the server. */
function historyOf(...steps: [second: number, boot: number | null, revision?: number][]): HistoryEntry[] {
  return steps.map(([second, boot, revision], index) => ({
    at: new Date(start + second * 1000).toISOString(),
    event: 'step',
    state: `state${index}`,
    status: 'running',
    phase: null,
    by: null,
    boot,
    revision: revision ?? index + 1,
  }))
}

test('a moment says how long it lasted, what is missing before it, and if the server was restarted', () => {
  const moments = toMoments(historyOf([0, null], [2, 1], [5, 1, 12], [5, 2, 13]))

  assert.deepEqual(
    moments.map(({ durationMs, missing, isAfterRestart, from }) => [
      durationMs,
      missing,
      isAfterRestart,
      from,
    ]),
    [
      [2000, 0, false, null],
      [3000, 0, false, 'state0'],
      [0, 9, false, 'state1'],
      [null, 0, true, 'state2'],
    ],
  )
})

test('an address leads to its moment, or to the one before that is kept', () => {
  const moments = toMoments(historyOf([0, 1], [1, 1], [2, 1, 12]))
  const indexes = [undefined, 1, 2, 7, 12, 99, 0].map((revision) => momentIndex(moments, revision))
  assert.deepEqual(indexes, [2, 0, 1, 1, 2, 2, 0])
})

test('a wait of more than ten usual steps is folded, so that the steps can be seen', () => {
  const spans = toSpans(toMoments(historyOf([0, 1], [1, 1], [2, 1], [3, 1], [7203, 1])))

  assert.deepEqual(
    spans.map(({ foldedMs }) => foldedMs),
    [null, null, null, 7_200_000],
  )
  assert.ok(spans[0]!.share > 0.1)
})

test('repetitions are counted, with cycles of several steps', () => {
  const counts = (text: string) =>
    toRepeats([...text], (letter) => letter).map(
      ({ items, length, count }) => `${items.slice(0, length).join('')}${count}`,
    )
  assert.deepEqual(counts('qaaaab'), ['q1', 'a4', 'b1'])
  assert.deepEqual(counts('qabcabcabcabd'), ['q1', 'abc3', 'a1', 'b1', 'd1'])
  assert.deepEqual(counts('abab'), ['a1', 'b1', 'a1', 'b1'])
})

test('causes and moves are shown in words', () => {
  assert.equal(causeWords('fetchSource.done'), 'Fetching source succeeded')
  assert.equal(causeWords('stopRun.failed'), 'Stopping run failed')
  assert.equal(causeWords('awaitTurn.done'), 'Its turn came')
  assert.equal(causeWords('limits.set'), 'Limits change')
  assert.equal(causeWords('created'), 'Requested')
  assert.deepEqual(moveWords('w.life.up w.limits.set', 'w.life.down w.limits.set'), {
    from: 'up',
    to: 'down',
  })
  assert.deepEqual(moveWords('w.life.up w.limits.set', 'gone'), { from: 'up · set', to: 'gone' })
})

test('every wait of every chart has words for its end', () => {
  const slots = Object.values<Kind>(catalogue).flatMap(({ machine }) =>
    Object.keys(machine.implementations.actors),
  )
  const waits = slots.filter((slot) => /^(await|keep|sleep)/.test(slot))
  assert.deepEqual(
    waits.filter((slot) => !endWords[slot]),
    [],
  )
})
