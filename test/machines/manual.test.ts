// The diagram of a deploy in the manual must match its chart.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { machine } from '../../machines/deploy/deploy.ts'
import { toMermaid } from '../../machines/mermaid.ts'

/** `a → b → c` as pairs. */
function stepsIn(line: string): string[] {
  const states = line.split(/ → | --> /).map((part) => /\w+$/.exec(part.trim())?.[0])
  return states.slice(1).map((state, index) => `${states[index]} → ${state}`)
}

test('the transitions in the manual are transitions of the chart', () => {
  const page = readFileSync(new URL('../../docs/architecture.md', import.meta.url), 'utf8')
  const drawing = page
    .split('\n')
    .filter((line) => / → /.test(line))
    .flatMap(stepsIn)
  const chart = toMermaid(machine)
    .split('\n')
    .flatMap((line) => stepsIn(line.replace(/: .*$/, '')))
  assert.ok(drawing.length >= 10)
  assert.deepEqual(
    drawing.filter((step) => !chart.includes(step)),
    [],
  )
})
