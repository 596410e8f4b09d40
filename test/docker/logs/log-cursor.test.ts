// Going on where a reader of a log stopped: every line once, whatever comes again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createLogCursor } from '../../../src/docker/logs/instance-log.ts'

const timeOf = (nano: number) => `2026-01-02T03:04:05.${String(nano).padStart(9, '0')}Z`

/** Times as two streams write them: rising, with neighbours that may have changed places. */
const writtenTimes = fc
  .record({
    steps: fc.array(fc.nat({ max: 2_000_000 }), { minLength: 1, maxLength: 600 }),
    swaps: fc.array(fc.nat(), { maxLength: 60 }),
  })
  .map(({ steps, swaps }) => {
    let at = 0
    const times = steps.map((step) => {
      at += step + 1
      return timeOf(at)
    })
    for (const swap of swaps) {
      const cursor = swap % times.length
      const [one, other] = [times[cursor]!, times[cursor + 1]]
      if (other !== undefined) times.splice(cursor, 2, other, one)
    }
    return times
  })

/** What Docker sends: whatever is not before the instant, which it takes in milliseconds. */
function sentSince(times: string[], since: string | undefined): string[] {
  const sinceMs = since === undefined ? 0 : Date.parse(since)
  return times.filter((time) => Date.parse(time) >= sinceMs)
}

test('a log read in any number of pieces, with saved cursors, is read completely and once', () => {
  const cuts = fc.array(fc.nat({ max: 600 }), { maxLength: 8 })
  fc.assert(
    fc.property(writtenTimes, cuts, fc.boolean(), (times, counts, isRetained) => {
      const read: string[] = []
      let cursor = createLogCursor()
      for (const count of [...counts, times.length]) {
        if (isRetained) cursor = createLogCursor(cursor.times())
        const coming = sentSince(times, cursor.reopen())
        for (const time of coming.slice(0, count)) if (cursor.admits(time)) read.push(time)
      }
      assert.deepEqual(read, times)
    }),
    { numRuns: 500 },
  )
})

test('a cursor is as small for a long log as for a short one', () => {
  const cursor = createLogCursor()

  for (let nano = 0; nano < 100_000; nano++) cursor.admits(timeOf(nano))

  assert.equal(cursor.times().length, 64)
  assert.equal(cursor.times().at(-1), timeOf(99_999))
})

test('lines whose clock was set back are read while the stream is open', () => {
  const cursor = createLogCursor([timeOf(500), timeOf(600)])
  cursor.reopen()

  const admitted = [500, 600, 700, 100, 200].filter((nano) => cursor.admits(timeOf(nano)))

  assert.deepEqual(admitted, [700, 100, 200])
})
