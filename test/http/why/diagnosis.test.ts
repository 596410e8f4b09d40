// What a log and a history tell of an outcome.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { excerptOf, phasesOf } from '../../../src/http/why/why.ts'
import type { LogLine } from '../../../storage/log/logs.ts'

const ts = '2026-01-01T00:00:00.000Z'
const line = (stream: LogLine['stream'], text: string, about?: object): LogLine => ({
  ts,
  stream,
  line: text,
  ...(about && { about: { ...about } }),
})
const step = (number: number, text: string, more: object = {}) =>
  line('system', text, { step: { number, ...more } })

test('the failed step of a build is shown with its own last lines', () => {
  const log = [
    step(4, '#4 [2/3] RUN npm ci', { state: 'started', name: '[2/3] RUN npm ci' }),
    step(5, '#5 [other 1/2] RUN make', { state: 'started', name: '[other 1/2] RUN make' }),
    step(4, '#4 0.512 npm error missing script'),
    step(5, '#5 0.700 compiling'),
    step(4, '#4 ERROR: exit code: 1', { state: 'failed' }),
    step(5, '#5 CANCELED', { state: 'canceled' }),
  ]
  assert.deepEqual(excerptOf(log), {
    failed_step: '[2/3] RUN npm ci',
    error_line: null,
    lines: ['0.512 npm error missing script'],
  })
})

test('a command whose output imitates a builder fails no step', () => {
  const forged = line('stdout', '#4 ERROR: not of the builder', { step: { number: 4 } })
  const log = [step(4, '#4 [1/1] RUN x', { state: 'started', name: '[1/1] RUN x' }), forged]
  assert.equal(excerptOf(log).failed_step, null)
})

test('for an instance the lines after the last system line are shown', () => {
  const log = [
    line('stdout', 'of the pre-deploy command'),
    line('system', 'the last 2 lines of the instance:'),
    line('stderr', 'Error: no database'),
    line('stderr', '    at main'),
    line('system', 'failed: the instance exited with code 1'),
  ]
  assert.deepEqual(excerptOf(log).lines, ['Error: no database', '    at main'])
})

test('a log without output shows its last lines', () => {
  assert.deepEqual(excerptOf([line('system', 'canceled by the administrator')]).lines, [
    'canceled by the administrator',
  ])
})

test('phases end with the outcome, and the failed one is marked', () => {
  const entry = (seconds: number, state: string, status: string) => ({
    at: `2026-01-01T00:00:0${seconds}.000Z`,
    event: 'x',
    state,
    status,
    phase: null,
    by: null,
  })
  const history = [
    entry(0, 'queued', 'queued'),
    entry(1, 'running.building', 'running'),
    entry(2, 'running.building', 'running'),
    entry(4, 'failing', 'failed'),
    entry(5, 'failed', 'failed'),
  ]
  assert.deepEqual(phasesOf(history, Date.parse('2026-01-01T01:00:00.000Z')), [
    { name: 'queued', duration_ms: 1000, failed: false },
    { name: 'building', duration_ms: 3000, failed: true },
  ])
})

test('the outcome is not repeated as a line, because the reason contains it', () => {
  const outcome = line('system', 'failed: no such base', { mark: 'outcome' })

  assert.deepEqual(excerptOf([line('system', 'unpacked'), outcome]).lines, ['unpacked'])
})
