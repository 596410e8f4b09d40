// The daemon's log in its human-readable format, and when it is used.
import assert from 'node:assert/strict'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { toJournalEntry, toText } from '../src/log-text.ts'
import { createLogger } from '../src/logger.ts'
import { temporaryDirectory } from './support/system/directory.ts'

const at = { level: 'info', ts: new Date(2026, 10, 22, 22, 16, 5).toISOString() }
const textOf = (line: object) => toText(JSON.stringify({ ...at, ...line }), false)

test('a line has the time, the level, the message and its fields', () => {
  assert.equal(
    textOf({
      url: 'http://127.0.0.1:7878',
      actors: 3,
      reason: 'two words',
      none: null,
      msg: 'berthd listens',
    }),
    '22:16:05 info  berthd listens  url=http://127.0.0.1:7878 actors=3 reason="two words" none=null\n',
  )
  assert.equal(textOf({ level: 'warn', msg: 'alone' }), '22:16:05 warn  alone\n')
})

test('an error is logged with its stack', () => {
  const err = {
    type: 'Error',
    message: 'broken',
    stack: 'Error: broken\n    at f (a.ts:1:2)\n    at b.ts:3:4',
  }
  assert.equal(
    textOf({ level: 'error', err, msg: 'a bug' }),
    '22:16:05 error a bug\n         broken\n           at f (a.ts:1:2)\n           at b.ts:3:4\n',
  )
})

test('client input cannot move the cursor or start a line', () => {
  const unusual = '/a\u001b[2J\r\n\u009b1A\u202e'
  const line = textOf({ path: unusual, msg: unusual, err: { message: unusual } })
  assert.doesNotMatch(line.replaceAll('\n', ''), /[\p{Cc}\u202e]/u)
  assert.equal(line.split('\n').length, 3)
})

test('a log that is not a terminal is JSON, unless text is requested', (t) => {
  const written = (format: 'auto' | 'json' | 'text') => {
    const path = join(temporaryDirectory(t), 'log')
    const fd = openSync(path, 'a')
    createLogger({ level: 'info', fd, format }).info({ port: 1 }, 'listens')
    closeSync(fd)
    return readFileSync(path, 'utf8')
  }
  assert.equal(JSON.parse(written('auto')).msg, 'listens')
  assert.equal(JSON.parse(written('json')).msg, 'listens')
  assert.match(written('text'), /^\d\d:\d\d:\d\d info {2}listens {2}port=1\n$/)
})

test('an entry of the journal has the line, its priority, and each plain field', () => {
  const line = { ...at, level: 'warn', msg: 'two\nlines', service: 'web', exitCode: 1, list: [1], none: null }

  const entry = toJournalEntry(JSON.stringify(line))

  assert.deepEqual(fieldsOf(entry), [
    ['MESSAGE', 'two\\u000alines  service=web exitCode=1 list=[1] none=null'],
    ['PRIORITY', '4'],
    ['SYSLOG_IDENTIFIER', 'berthd'],
    ['BERTH_SERVICE', 'web'],
    ['BERTH_EXIT_CODE', '1'],
  ])
})

test('no value of a field ends it in the journal', () => {
  const entry = toJournalEntry(JSON.stringify({ ...at, msg: 'a', service: 'x\nPRIORITY=0' }))

  assert.deepEqual(fieldsOf(entry).at(-1), ['BERTH_SERVICE', 'x\nPRIORITY=0'])
})

/** As systemd reads them: the name, the length in 8 bytes, the value. */
function fieldsOf(entry: Buffer): string[][] {
  const fields = []
  for (let at = 0; at < entry.length; ) {
    const name = entry.toString('utf8', at, entry.indexOf('\n', at))
    const start = at + name.length + 9
    const length = Number(entry.readBigUInt64LE(start - 8))
    fields.push([name, entry.toString('utf8', start, start + length)])
    at = start + length + 1
  }
  return fields
}
