// The picture of a deploy in README, held against its chart.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { machine } from '../../machines/deploy/deploy.ts'
import { toMermaid } from '../support/mermaid.ts'

/** `a --> b`, also of a line that goes on: `a -->|why| b --> c`. */
function stepsIn(line: string): string[] {
  const states = line.split(/ -->(?:\|[^|]*\|)? /).map((state) => /\w+/.exec(state)?.[0])
  return states.slice(1).map((state, index) => `${states[index]} --> ${state}`)
}

test('the ways that README shows are ways of the chart', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
  const arrows = (text: string) => text.split('\n').flatMap(stepsIn)
  const shown = arrows(/```mermaid\n([\s\S]*?)```/.exec(readme)![1]!)
  const real = new Set(arrows(toMermaid(machine)))
  assert.ok(shown.length >= 10)
  assert.deepEqual(
    shown.filter((arrow) => !real.has(arrow)),
    [],
  )
})
