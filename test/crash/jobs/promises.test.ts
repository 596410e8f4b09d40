// Tests that the checks of runs detect each fault.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { missedInstants, repeatedInstants, skippedBy } from './instants.ts'
import { type Mark, overlapFaults, startsOf } from './marks.ts'
import { type EndedRun, endFaults, outputFaults } from './output.ts'
import type { Task } from './tasks.ts'

const pace = { linesAtOnce: 1, pauseSeconds: 0, isStubborn: false }
const task: Task = { kind: 'failing', lines: 3, exitCode: 7, ...pace }
const said = (line: string) => ({ stream: 'system', line })
const line = (number: number) => ({ stream: 'stdout', line: `line ${number} of 3` })
const last = said('failed: exited with code 7')
const whole: EndedRun = {
  record: { status: 'failed', exit_code: 7, error: 'exited with code 7' },
  lines: [said('running true'), line(1), line(2), line(3), last],
  task,
  isEngineDisturbed: false,
}

test('a run with all its lines, its exit code and its outcome has no fault', () => {
  assert.deepEqual([...endFaults(whole), ...outputFaults(whole)], [])
})

test('a missing or repeated line is a fault, and so is an end without its outcome', () => {
  const withLines = (...lines: EndedRun['lines']) => outputFaults({ ...whole, lines })
  assert.deepEqual(withLines(line(1), line(3), last), ['line 3 of 3 is at 2 of its output', '2 of 3 lines'])
  assert.deepEqual(withLines(line(1), line(1), line(2), line(3), last), [
    'line 1 of 3 is at 2 of its output',
    '4 of 3 lines',
  ])
  assert.deepEqual(withLines(line(1), line(2), line(3)), [
    "its last line is 'line 3 of 3', its outcome 'failed: exited with code 7'",
  ])
})

test('after a restart of Docker lines may be missing, but none may be repeated', () => {
  const disturbed = { ...whole, isEngineDisturbed: true }
  assert.deepEqual(outputFaults({ ...disturbed, lines: [line(1), line(3), last] }), [])
  assert.deepEqual(outputFaults({ ...disturbed, lines: [line(1), line(1), last] }), [
    'line 1 of 3 is at 2 of its output',
  ])
})

test('a different exit code is a fault, unless the record blames a restart of Docker', () => {
  const record = { status: 'failed', exit_code: 137, error: 'was ended by SIGKILL (exit code 137)' }
  const recorded = `${record.status}, exit code 137: ${record.error}`
  assert.deepEqual(endFaults({ ...whole, record }), [`7 was its exit code, its record has ${recorded}`])
  assert.deepEqual(endFaults({ ...whole, record, isEngineDisturbed: true }), [
    `ended by a restart of Docker, its record has ${recorded}`,
  ])
  const error = `${record.error}: the Docker engine was restarted`
  assert.deepEqual(endFaults({ ...whole, record: { ...record, error }, isEngineDisturbed: true }), [])
  assert.deepEqual(endFaults({ ...whole, record: { ...whole.record, status: 'succeeded' } }), [
    'exited with 7 and is succeeded',
  ])
})

test('a run that started twice, and two overlapping runs, are faults', () => {
  const mark = (id: string, word: Mark['word']): Mark => ({ id, word })
  const begun = [mark('a', 'start'), mark('b', 'start')]
  const marks = [...begun, mark('a', 'end'), mark('a', 'start'), mark('c', 'end')]
  assert.deepEqual([startsOf(marks, 'a'), startsOf(marks, 'b')], [2, 1])
  assert.deepEqual(overlapFaults(marks, new Set(['a', 'b', 'c'])), ['b was at work while a was'])
  assert.deepEqual(overlapFaults(marks, new Set(['a', 'c'])), [])
})

test('a scheduled time with two runs, or with neither a run nor a reported skip, is a fault', () => {
  const at = (time: string) => `2026-01-01T00:${time}.000Z`
  const runs = [
    { id: 'a', scheduled_for: at('01:00') },
    { id: 'b', scheduled_for: at('03:00') },
    { id: 'c', scheduled_for: at('03:00') },
  ]
  const skips = new Set([Date.parse(at('04:00'))])
  const requests = { after: Date.parse(at('00:00')), upTo: Date.parse(at('05:00')), runs, skips }
  assert.deepEqual(repeatedInstants(runs), [`${at('03:00')} has b, c`])
  assert.deepEqual(missedInstants(requests), [at('02:00'), at('05:00')])
})

test('a report about several scheduled times counts for each of them', () => {
  const [first, last] = ['2026-01-01T00:01:00.000Z', '2026-01-01T00:03:00.000Z']
  const reason = `the server did not run: every instant from ${first} to ${last} was missed by a whole period`
  assert.deepEqual(
    skippedBy({ scheduled_for: last, reason }).map((at) => new Date(at).toISOString()),
    [first, '2026-01-01T00:02:00.000Z', last],
  )
  assert.deepEqual(skippedBy({ scheduled_for: first, reason: 'x was not over' }), [Date.parse(first)])
})
