import { deepEqual, equal, ok } from 'node:assert/strict'
import { appendFileSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Logs } from '../../../storage/log/logs.ts'
import { openTestLogs, readLog } from '../../support/storage/logs.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const ts = '2026-01-02T03:04:05.678Z'
const small = { headBytes: 3000, tailBytes: 3000, segmentBytes: 1000 }

/** What a crash may leave after the last complete line. */
const tornEnds = {
  'half a line': '[4,"2026-01-02T03:04:05.678Z","stdout","ha',
  'a line that is not JSON': '[4,"2026"\n',
  'a line of another shape': '[4,"2026-01-02T03:04:05.678Z","elsewhere","text"]\n',
  'blocks that were never filled': '\0'.repeat(5000),
  'blocks that were never filled, and a line': `${'\0'.repeat(5000)}\n`,
}

for (const [what, tornEnd] of Object.entries(tornEnds)) {
  test(`${what} at the end of the file is cut off, and its number goes to the next line`, async (t) => {
    const directory = temporaryDirectory(t)
    await writeLines(openTestLogs(t, directory), 1, 3)
    appendFileSync(lastFile(directory), tornEnd)

    const reopened = openTestLogs(t, directory)
    await writeLines(reopened, 4, 4)

    deepEqual(await readTexts(reopened), { 1: 'line 1', 2: 'line 2', 3: 'line 3', 4: 'line 4' })
  })
}

test('a file without a whole line is removed, and numbering continues from the previous file', async (t) => {
  const directory = temporaryDirectory(t)
  await writeLines(openTestLogs(t, directory), 1, 3)
  writeFileSync(join(directory, 'svc-1', '000000000004.jsonl'), '[4,"2026')

  const reopened = openTestLogs(t, directory)

  equal(reopened.head('svc-1'), 3)
  equal(readdirSync(join(directory, 'svc-1')).length, 1)
})

test('a log over its limits keeps its first and last lines and counts the others', async (t) => {
  const directory = temporaryDirectory(t)
  const logs = openTestLogs(t, directory, small)
  await writeLines(logs, 1, 1000)

  const lines = await readLog(logs, 'svc-1')
  const gap = lines.findIndex(({ stream }) => stream === 'system')
  const [before, notice, after] = lines.slice(gap - 1, gap + 2)
  const missing = (after?.number ?? 0) - (before?.number ?? 0) - 1

  equal(lines[0]?.line, 'line 1')
  equal(lines.at(-1)?.line, 'line 1000')
  deepEqual(notice, {
    number: notice?.number,
    ts,
    stream: 'system',
    line: `${missing} lines are missing here`,
  })
  equal(notice?.number, (after?.number ?? 0) - 1)
  equal(lines.length, 1000 - missing + 1)
  equal(sizeOf(directory) <= 6000, true)
})

test('a reader that stopped inside the missing lines learns how many more are missing', async (t) => {
  const logs = openTestLogs(t, temporaryDirectory(t), small)
  await writeLines(logs, 1, 1000)

  const [notice, next] = await readLog(logs, 'svc-1', 500)

  equal(notice?.line, `${(next?.number ?? 0) - 501} lines are missing here`)
  equal(next?.line, `line ${next?.number}`)
})

test('only the damaged line in the middle is missing', async (t) => {
  const directory = temporaryDirectory(t)
  await writeLines(openTestLogs(t, directory), 1, 4)
  const text = readFileSync(lastFile(directory), 'utf8')
  writeFileSync(lastFile(directory), text.replace('"line 2"', '"line 2x'))

  const texts = await readTexts(openTestLogs(t, directory))

  deepEqual(texts, { 1: 'line 1', 2: '1 line is missing here', 3: 'line 3', 4: 'line 4' })
})

test('opening a log and reading its end touch only the last file', async (t) => {
  const directory = temporaryDirectory(t)
  const sizes = { segmentBytes: 1000 }
  await writeLines(openTestLogs(t, directory, sizes), 1, 200)
  for (const name of readdirSync(join(directory, 'svc-1')).sort().slice(0, -1)) {
    writeFileSync(join(directory, 'svc-1', name), 'damaged')
  }

  const reopened = openTestLogs(t, directory, sizes)

  equal(reopened.head('svc-1'), 200)
  deepEqual(await reopened.tail('svc-1', 2), [
    { ts, stream: 'stdout', line: 'line 199' },
    { ts, stream: 'stdout', line: 'line 200' },
  ])
})

async function writeLines(logs: Logs, from: number, to: number): Promise<void> {
  for (let number = from; number <= to; number++) {
    logs.append('svc-1', 'stdout', `line ${number}`, ts)
    if (number % 7 === 0) await logs.flush()
  }
  await logs.flush()
}

/** Lines by number. Fails when the numbers do not rise. */
async function readTexts(logs: Logs): Promise<Record<number, string>> {
  const lines = await readLog(logs, 'svc-1')
  const numbers = lines.map(({ number }) => number)
  deepEqual(
    numbers,
    [...new Set(numbers)].sort((a, b) => a - b),
  )
  return Object.fromEntries(lines.map(({ number, line }) => [number, line]))
}

function lastFile(directory: string): string {
  const names = readdirSync(join(directory, 'svc-1')).sort()
  return join(directory, 'svc-1', names.at(-1) ?? '')
}

function sizeOf(directory: string): number {
  const log = join(directory, 'svc-1')
  return readdirSync(log).reduce((sum, name) => sum + statSync(join(log, name)).size, 0)
}

const dayMs = 24 * 60 * 60 * 1000
const aged = { headBytes: 0, segmentBytes: 1000, maxAgeMs: 14 * dayMs }

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
  const limits = { headBytes: 0, tailBytes: 5000, segmentBytes: 1000 }
  const logs = openTestLogs(t, directory, limits)
  await writeLines(logs, 1, 1000)

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
  await writeLines(before, 1, 100)
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
  await writeLines(before, 1, 100)
  await before.close()
  makeOlder(filesIn(directory), 15)

  const logs = openTestLogs(t, directory, aged)
  await logs.expire()
  const left = await readLog(logs, 'svc-1', 100)
  const tail = await logs.tail('svc-1', 10)
  await logs.close()
  const reopened = openTestLogs(t, directory, aged)
  const head = reopened.head('svc-1')
  await writeLines(reopened, 101, 101)

  deepEqual([left, tail, head, filesIn(directory).length], [[], [], 100, 1])
  const [line, ...others] = await readLog(reopened, 'svc-1', 100)
  deepEqual([line?.number, line?.line, others], [101, 'line 101', []])
  equal(reopened.first('svc-1'), 101)
})

test('a rarely written log starts a new file every day, so old lines can expire', async (t) => {
  const directory = temporaryDirectory(t)
  const before = openTestLogs(t, directory, aged)
  await writeLines(before, 1, 2)
  await before.close()
  makeOlder(filesIn(directory), 2)

  const logs = openTestLogs(t, directory, aged)
  await writeLines(logs, 3, 3)

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
