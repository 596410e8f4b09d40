// Runs the quick form of one part of the benchmark, to check that it produces figures. `npm run bench`
// produces meaningful ones.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runParts } from './bench/bench.ts'
import { formatValue, isMet } from './bench/figure.ts'
import { toTable } from './bench/report.ts'

test('the bench measures, and prints every figure as a row', async (t) => {
  const results = await runParts(['start'], {
    isQuick: true,
    log: (text) => t.diagnostic(text),
  })

  const figures = results.flatMap((result) => result.figures)
  assert.ok(figures.length > 0)
  for (const { name, value } of figures) assert.ok(Number.isFinite(value) && value > 0, `${name}: ${value}`)
  const table = toTable(results)
  for (const figure of figures) {
    assert.ok(table.includes(figure.name), table)
    assert.ok(table.includes(formatValue(figure)), table)
  }
})

test('a figure with a goal passes at the goal and fails beyond it', () => {
  const least = { name: 'pace', unit: '/s', goal: { atLeast: 5000 } }
  const most = { name: 'wait', unit: 'ms', goal: { atMost: 300 } }
  assert.deepEqual(
    [5000, 4999].map((value) => isMet({ ...least, value })),
    [true, false],
  )
  assert.deepEqual(
    [300, 301].map((value) => isMet({ ...most, value })),
    [true, false],
  )
  assert.equal(isMet({ name: 'memory', unit: 'MB', value: 1 }), null)
})
