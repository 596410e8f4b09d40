import { deepEqual, equal, rejects, throws } from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { followLog, nextChange, openTestLogs, readLog } from '../../support/storage/logs.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const ts = '2026-01-02T03:04:05.678Z'

test('200,000 lines are read back identical, before and after a restart', async (t) => {
  const directory = temporaryDirectory(t)
  const logs = openTestLogs(t, directory)
  const expected = Array.from({ length: 200_000 }, (_, index) => {
    const line = `${index} "quoted" \\ \t\u0000 žluťoučký 🐎`
    return { number: index + 1, ts, stream: 'stdout' as const, line }
  })

  for (const { stream, line } of expected) logs.append('dep-1', stream, line, ts)
  await logs.flush()
  const before = await readLog(logs, 'dep-1')
  await logs.close()
  const after = await readLog(openTestLogs(t, directory), 'dep-1')

  equal(logs.head('dep-1'), 200_000)
  deepEqual(before, expected)
  deepEqual(after, expected)
})

test('a line is pushed to followers, and only once it is written', async (t) => {
  const logs = openTestLogs(t, temporaryDirectory(t))
  logs.append('dep-1', 'stderr', 'hello', ts)
  const headBefore = logs.head('dep-1')

  await nextChange(logs, 'dep-1')

  equal(headBefore, 0)
  deepEqual(await readLog(logs, 'dep-1'), [{ number: 1, ts, stream: 'stderr', line: 'hello' }])
})

test('a follower that reconnects a hundred times sees every line once, in order', async (t) => {
  const logs = openTestLogs(t, temporaryDirectory(t), { flushMs: 1 })
  const seen: number[] = []

  for (let round = 0; round < 100; round++) {
    for (let line = 0; line < round % 17; line++) logs.append('dep-1', 'stdout', `${round} ${line}`)
    await logs.flush()
    if (round % 3 === 0) continue
    const batch = await logs.batchAfter('dep-1', seen.length)
    const kept = batch?.lines.slice(0, 1 + (round % 5)) ?? []
    seen.push(...kept.map((_, index) => (batch?.first ?? 0) + index))
  }
  seen.push(...(await readLog(logs, 'dep-1', seen.length)).map(({ number }) => number))

  deepEqual(
    seen,
    Array.from({ length: logs.head('dep-1') }, (_, index) => index + 1),
  )
})

test('a line over 16 KiB is split between characters', async (t) => {
  const logs = openTestLogs(t, temporaryDirectory(t))
  const line = `a${'🐎'.repeat(10_000)}`

  logs.append('dep-1', 'stdout', line, ts)
  await logs.flush()
  const lines = (await readLog(logs, 'dep-1')).map((piece) => piece.line)

  equal(lines.join(''), line)
  deepEqual(
    lines.map((piece) => Buffer.byteLength(piece)),
    [16_381, 16_384, 7236],
  )
})

test('the end of a log survives a restart, and no line is appended after it', async (t) => {
  const directory = temporaryDirectory(t)
  const logs = openTestLogs(t, directory)
  logs.append('dep-1', 'stdout', 'last', ts)
  const following = followLog(logs, 'dep-1')

  await Promise.all([logs.end('dep-1'), logs.end('dep-1')])
  logs.append('dep-1', 'stdout', 'too late', ts)
  await logs.close()
  const reopened = openTestLogs(t, directory)
  reopened.append('dep-1', 'stdout', 'much too late', ts)
  await reopened.end('dep-1')

  equal(reopened.isEnded('dep-1'), true)
  deepEqual(await following, [{ number: 1, ts, stream: 'stdout', line: 'last' }])
  deepEqual(await readLog(reopened, 'dep-1'), await following)
})

test('closing does not end a log, and its numbering continues after the restart', async (t) => {
  const directory = temporaryDirectory(t)
  const logs = openTestLogs(t, directory)
  logs.append('svc-1', 'stdout', 'before', ts)
  await logs.close()
  const reopened = openTestLogs(t, directory)

  reopened.append('svc-1', 'stdout', 'after', ts)
  await reopened.flush()

  equal(reopened.isEnded('svc-1'), false)
  deepEqual(await readLog(reopened, 'svc-1'), [
    { number: 1, ts, stream: 'stdout', line: 'before' },
    { number: 2, ts, stream: 'stdout', line: 'after' },
  ])
})

test('removing a log ends its followers, deletes its files, and ignores late lines', async (t) => {
  const directory = temporaryDirectory(t)
  const logs = openTestLogs(t, directory)
  for (const id of ['svc-1', 'svc-2']) logs.append(id, 'stdout', 'hello', ts)
  await logs.flush()
  const following = followLog(logs, 'svc-1')

  logs.append('svc-1', 'stdout', 'unwritten', ts)
  await logs.remove('svc-1')
  logs.append('svc-1', 'stdout', 'late', ts)
  await following

  deepEqual(await logs.ids(), ['svc-2'])
  deepEqual(readdirSync(directory), ['svc-2'])
})

test('the tail of a log has the line that was appended just now', async (t) => {
  const logs = openTestLogs(t, temporaryDirectory(t))
  logs.append('svc-1', 'stdout', 'the last one')

  deepEqual(
    (await logs.tail('svc-1', 10)).map(({ line }) => line),
    ['the last one'],
  )

  logs.append('svc-1', 'stdout', 'one that is being written')
  const writing = logs.flush('svc-1')
  await Promise.resolve()
  const [last] = await logs.tail('svc-1', 1)

  equal(last?.line, 'one that is being written')
  await writing
})

test('the tail of a log is its last lines, from memory and from the file', async (t) => {
  const directory = temporaryDirectory(t)
  const logs = openTestLogs(t, directory)
  for (let line = 1; line <= 1200; line++) logs.append('svc-1', 'stdout', `${line}`, ts)
  await logs.flush()
  const expected = Array.from({ length: 700 }, (_, index) => ({
    ts,
    stream: 'stdout',
    line: `${index + 501}`,
  }))

  const fromMemory = await logs.tail('svc-1', 700)
  await logs.close()
  const fromFile = await openTestLogs(t, directory).tail('svc-1', 700)

  deepEqual(fromMemory, expected)
  deepEqual(fromFile, expected)
  deepEqual(await openTestLogs(t, directory).tail('svc-none', 10), [])
})

test('an unused log is dropped from memory, and later read from its file', async (t) => {
  const logs = openTestLogs(t, temporaryDirectory(t), { idleMs: 0 })
  for (const id of ['svc-1', 'svc-2']) logs.append(id, 'stdout', 'hello', ts)
  t.after(logs.watch('svc-2', () => {}))
  await logs.flush()
  const expected = await logs.batchAfter('svc-1', 0)

  while (!(logs.batchAfter('svc-1', 0) instanceof Promise)) await setImmediate()

  deepEqual(await logs.batchAfter('svc-1', 0), expected)
  equal(logs.batchAfter('svc-2', 0) instanceof Promise, false)
})

test('an id that would leave the directory is refused', async (t) => {
  const logs = openTestLogs(t, temporaryDirectory(t))

  for (const id of ['', '.', '..', '../svc-1', 'a/b', 'a\0b']) {
    throws(() => logs.append(id, 'stdout', 'hello'), { code: 'invalid_log_id' })
    throws(() => logs.batchAfter(id, 0), { code: 'invalid_log_id' })
    await rejects(logs.remove(id), { code: 'invalid_log_id' })
  }
})
