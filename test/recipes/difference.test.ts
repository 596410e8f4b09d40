// What differs between two Dockerfiles.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { difference } from '../../src/recipes/index.ts'

test('changed lines are shown with their surroundings', () => {
  const lines = ['FROM a', 'WORKDIR /app', 'COPY . .', 'RUN x', 'USER 1', 'CMD y']
  const changed = lines.with(0, 'FROM b')
  const toText = (all: string[]) => `${all.join('\n')}\n`
  assert.deepEqual(difference(toText(lines), toText(changed)), [
    '-FROM a',
    '+FROM b',
    ' WORKDIR /app',
    ' COPY . .',
  ])
  assert.deepEqual(difference(toText(lines), toText(lines)), [])
})

test('texts that differ everywhere are not compared for long', () => {
  const toText = (letter: string) =>
    Array.from({ length: 5_000 }, (_, index) => `${letter}${index}\n`).join('')
  assert.deepEqual(difference(toText('a'), toText('b')), ['they differ in many lines'])
})
