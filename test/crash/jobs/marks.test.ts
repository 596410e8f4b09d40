// Tests that the checks of marks detect each fault.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Mark, overlapFaults, startsOf } from './marks.ts'

test('a run that started twice, and two overlapping runs, are faults', () => {
  const mark = (id: string, word: Mark['word']): Mark => ({ id, word })
  const begun = [mark('a', 'start'), mark('b', 'start')]
  const marks = [...begun, mark('a', 'end'), mark('a', 'start'), mark('c', 'end')]
  assert.deepEqual([startsOf(marks, 'a'), startsOf(marks, 'b')], [2, 1])
  assert.deepEqual(overlapFaults(marks, new Set(['a', 'b', 'c'])), ['b was at work while a was'])
  assert.deepEqual(overlapFaults(marks, new Set(['a', 'c'])), [])
})
