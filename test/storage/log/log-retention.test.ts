// Retention of a log without a head, by size and age, and its note.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { readdirSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Logs } from '../../../storage/log/logs.ts'
import { openTestLogs, readLog } from '../../support/storage/logs.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const ts = '2026-01-02T03:04:05.678Z'
const dayMs = 24 * 60 * 60 * 1000
const aged = { headBytes: 0, segmentBytes: 1000, maxAgeMs: 14 * dayMs }

async function write(logs: Logs, from: number, to: number): Promise<void> {
  for (let number = from; number <= to; number++) {
    logs.append('svc-1', 'stdout', `line ${number}`, ts)
    if (number % 7 === 0) await logs.flush('svc-1')
  }
  await logs.flush('svc-1')
}

const filesIn = (directory: string) =>
  readdirSync(join(directory, 'svc-1'))
    .sort()
    .map((name) => join(directory, 'svc-1', name))

function makeOlder(files: string[], days: number): void {
  const then = (Date.now() - days * dayMs) / 1000
  for (const file of files) utimesSync(file, then, then)
}

test('a log without a head keeps its newest lines within its limit', async (t) => {
  const directory = temporaryDirectory(t)
  const limits = { headBytes: 0, tailBytes: 5000, segmentBytes: 1000, ringLines: 1, ringBytes: 1 }
  const logs = openTestLogs(t, directory, limits)
  await write(logs, 1, 1000)

  const first = logs.first('svc-1')
  const log = await readLog(logs, 'svc-1', first - 1)
  const sizeBytes = filesIn(directory).reduce((sum, file) => sum + statSync(file).size, 0)

  ok(first > 800 && sizeBytes > 3000 && sizeBytes <= 5000, `${first}, ${sizeBytes}`)
  deepEqual(
    log.map(({ number, line }) => [number, line]),
    Array.from({ length: 1001 - first }, (_, index) => [first + index, `line ${first + index}`]),
  )
  const [notice] = await readLog(logs, 'svc-1', 0)
  equal(notice?.line, `${first - 1} lines are missing here`)
})

test('files whose newest line is too old are deleted, others stay', async (t) => {
  const directory = temporaryDirectory(t)
  const before = openTestLogs(t, directory, aged)
  await write(before, 1, 100)
  await before.close()
  const files = filesIn(directory)
  makeOlder(files.slice(0, 2), 15)
  makeOlder(files.slice(2, 4), 13)

  const logs = openTestLogs(t, directory, aged)
  await logs.expire()

  deepEqual(filesIn(directory), files.slice(2))
  equal(logs.head('svc-1'), 100)
})

test('an expired log is empty, and its numbering continues, also after a restart', async (t) => {
  const directory = temporaryDirectory(t)
  const before = openTestLogs(t, directory, aged)
  await write(before, 1, 100)
  await before.close()
  makeOlder(filesIn(directory), 15)

  const logs = openTestLogs(t, directory, aged)
  await logs.expire()
  const left = await readLog(logs, 'svc-1', 100)
  const tail = await logs.tail('svc-1', 10)
  await logs.close()
  const reopened = openTestLogs(t, directory, aged)
  const head = reopened.head('svc-1')
  await write(reopened, 101, 101)

  deepEqual([left, tail, head, filesIn(directory).length], [[], [], 100, 1])
  const [line, ...others] = await readLog(reopened, 'svc-1', 100)
  deepEqual([line?.number, line?.line, others], [101, 'line 101', []])
  equal(reopened.first('svc-1'), 101)
})

test('a rarely written log starts a new file every day, so old lines can expire', async (t) => {
  const directory = temporaryDirectory(t)
  const before = openTestLogs(t, directory, aged)
  await write(before, 1, 2)
  await before.close()
  makeOlder(filesIn(directory), 2)

  const logs = openTestLogs(t, directory, aged)
  await write(logs, 3, 3)

  equal(filesIn(directory).length, 2)
  deepEqual(
    (await readLog(logs, 'svc-1')).map(({ line }) => line),
    ['line 1', 'line 2', 'line 3'],
  )
})

test('metadata of a line is returned with it, and not with lines without it', async (t) => {
  const directory = temporaryDirectory(t)
  const logs = openTestLogs(t, directory)
  logs.append('svc-1', 'access', '', ts, { access: { status: 200 } })
  logs.append('svc-1', 'stdout', 'plain', ts)
  await logs.close()

  const lines = await readLog(openTestLogs(t, directory), 'svc-1')

  deepEqual(lines, [
    { number: 1, ts, stream: 'access', line: '', about: { access: { status: 200 } } },
    { number: 2, ts, stream: 'stdout', line: 'plain' },
  ])
})

test('the newest note replaces earlier ones, survives a restart, and is deleted with the log', async (t) => {
  const directory = temporaryDirectory(t)
  const logs = openTestLogs(t, directory)
  const none = await logs.readNote('svc-1')
  logs.append('svc-1', 'stdout', 'one', ts)
  await Promise.all(['first', 'second'].map((text) => logs.writeNote('svc-1', text)))
  await logs.close()

  const reopened = openTestLogs(t, directory)
  const note = await reopened.readNote('svc-1')
  const ids = await reopened.ids()
  await reopened.remove('svc-1')

  deepEqual([none, note, ids, readdirSync(directory)], [null, 'second', ['svc-1'], []])
})
