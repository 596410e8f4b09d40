// Tests that the check of rows detects each fault.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rowFaults } from './rows.ts'

const sent = new Map([
  [1, 'one'],
  [2, 'two'],
  [3, 'three'],
])
const row = (number: number, word: string) => ({ number, word })

test('present acknowledged rows and unacknowledged rows are no faults', () => {
  const found = [row(1, 'one'), row(2, 'two'), row(3, 'three')]
  assert.deepEqual(rowFaults(found, { sent, acknowledged: [1, 2] }), [])
})

test('a missing acknowledged row is a fault', () => {
  const faults = rowFaults([row(1, 'one')], { sent, acknowledged: [1, 2, 3] })
  assert.deepEqual(faults, ['2 of 3 rows acknowledged and not there: 2, 3'])
})

test('a row with different content, a row that was never sent, and a duplicate row are faults', () => {
  const found = [row(1, 'one'), row(2, 'zwei'), row(9, 'nine'), row(1, 'one')]
  const faults = rowFaults(found, { sent, acknowledged: [1] })
  assert.deepEqual(faults, ['2 of 4 rows there and never sent like that: 2, 9', '1 are there twice'])
})
