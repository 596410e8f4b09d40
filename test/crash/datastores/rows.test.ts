// The check of the rows itself: that it would tell.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rowFaults } from './rows.ts'

const sent = new Map([
  [1, 'one'],
  [2, 'two'],
  [3, 'three'],
])
const row = (number: number, word: string) => ({ number, word })

test('rows that were acknowledged and are there are no fault, nor is one that was only sent', () => {
  const found = [row(1, 'one'), row(2, 'two'), row(3, 'three')]
  assert.deepEqual(rowFaults(found, { sent, acknowledged: [1, 2] }), [])
})

test('a row that was acknowledged and is not there is told', () => {
  const faults = rowFaults([row(1, 'one')], { sent, acknowledged: [1, 2, 3] })
  assert.deepEqual(faults, ['2 of 3 rows acknowledged and not there: 2, 3'])
})

test('a row of another word, of nobody, or there twice is told', () => {
  const found = [row(1, 'one'), row(2, 'zwei'), row(9, 'nine'), row(1, 'one')]
  const faults = rowFaults(found, { sent, acknowledged: [1] })
  assert.deepEqual(faults, ['2 of 4 rows there and never sent like that: 2, 9', '1 are there twice'])
})
