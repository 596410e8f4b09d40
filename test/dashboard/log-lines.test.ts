// The lines of a log in memory: how many there are, which leave, and how they come back.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chunkLines, indexAtOrBefore, maxChars, maxLines } from '../../src/dashboard/log/lines.ts'
import { type Log, type LogSource, type Open, openLog } from '../../src/dashboard/log/log.ts'
import { extended, parseSelection, textOf, toHash } from '../../src/dashboard/log/selection.ts'

type StreamOptions = Parameters<Open>[0]

const ts = '2026-01-01T00:00:00.000Z'

/** A server that sends the lines it has at once. */
function startServer(textOfLine: (number: number) => string = (number) => `line ${number}`) {
  const streams = new Set<StreamOptions>()
  const requests: string[] = []
  let [first, head] = [1, 0]
  const eventOf = (number: number) => {
    const data = JSON.stringify({ ts, stream: 'stdout', line: textOfLine(number) })
    return { name: 'log', id: String(number), data }
  }
  function send(options: StreamOptions, from: number): void {
    for (let number = from; number <= head && streams.has(options); number++) options.onEvent(eventOf(number))
  }
  return {
    requests,
    write(count: number) {
      const from = head + 1
      head += count
      for (const options of [...streams]) send(options, from)
    },
    /** Lines before this one are gone. */
    expire(before: number) {
      first = before
    },
    end() {
      for (const options of [...streams]) options.onEvent({ name: 'end', id: '', data: '' })
    },
    open(options: StreamOptions) {
      streams.add(options)
      requests.push(`${options.path} after ${options.after ?? 'nothing'}`)
      queueMicrotask(() => send(options, Math.max(first, Number(options.after ?? 0) + 1)))
      return () => streams.delete(options)
    },
  }
}

type Server = ReturnType<typeof startServer>

/** All answers of the server have arrived. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

async function open(server: Server, source: Partial<LogSource> = {}): Promise<Log> {
  const log = openLog({ path: '/logs', from: null, isWhole: true, ...source }, server.open, () => {})
  await settle()
  return log
}

const ends = ({ lines }: Log) => [lines.first, lines.last, lines.count]

test('the newest lines stay when there are too many, and older ones come back', async () => {
  const server = startServer()
  server.write(maxLines + 12_345)
  const log = await open(server)
  assert.equal(log.lines.last, maxLines + 12_345)
  assert.ok(log.lines.count <= maxLines && log.lines.count > maxLines - chunkLines)

  log.follow(false)
  for (let request = 0; request < 5; request++) {
    log.loadOlder()
    await settle()
  }
  assert.equal(log.lines.first, 1)
  assert.ok(log.lines.count <= maxLines)
  assert.equal(log.isPaused(), true)

  log.follow(true)
  await settle()
  assert.equal(log.lines.last, maxLines + 12_345)
  assert.equal(log.isPaused(), false)
})

test('a reader of old lines keeps them while new ones come', async () => {
  const server = startServer()
  server.write(1_000)
  const log = await open(server)
  log.follow(false)
  server.write(maxLines + 5_000)
  assert.equal(log.lines.first, 1)
  assert.equal(log.isPaused(), true)
  const known = log.lines.last
  server.write(10)
  assert.equal(log.lines.last, known)
})

test('long lines count by their length', async () => {
  const server = startServer(() => 'x'.repeat(16_384))
  server.write((maxChars / 16_384) * 1.5)
  const log = await open(server)
  assert.ok(log.lines.count * 16_384 <= maxChars)
  assert.equal(log.lines.last, (maxChars / 16_384) * 1.5)
})

test('a log opens around a line, then reads what is before it', async () => {
  const server = startServer()
  server.write(20_000)
  const opened = openLog({ path: '/logs', from: 12_001, isWhole: true }, server.open, () => {})
  await Promise.resolve()
  assert.equal(opened.lines.first, 12_001)
  assert.equal(opened.willHave(3), true)
  await settle()
  assert.deepEqual(ends(opened), [1, 20_000, 20_000])
  assert.deepEqual(server.requests, [
    '/logs?follow=true after 12000',
    '/logs after 7000',
    '/logs after 2000',
    '/logs after 0',
  ])
})

test('a log without end is read only as far as its reader comes', async () => {
  const server = startServer()
  server.write(20_000)
  const log = await open(server, { path: '/logs?tail=1000', from: 19_001, isWhole: false })
  assert.deepEqual(ends(log), [19_001, 20_000, 1_000])
  assert.equal(server.requests[0], '/logs?tail=1000&follow=true after 19000')
  log.loadOlder()
  log.loadOlder()
  await settle()
  assert.deepEqual(ends(log), [14_001, 20_000, 6_000])
})

test('where lines are gone, older ones are looked for further back, and not forever', async () => {
  const server = startServer()
  server.write(100_000)
  server.expire(99_001)
  const log = await open(server, { from: 99_001, isWhole: false })
  for (let request = 0; request < 9; request++) {
    log.loadOlder()
    await settle()
  }
  assert.deepEqual(server.requests.slice(1), [
    '/logs after 94000',
    '/logs after 79000',
    '/logs after 19000',
    '/logs after 0',
  ])
  assert.equal(log.lines.first, 99_001)
})

test('a log that has ended says so', async () => {
  const server = startServer()
  server.write(3)
  const log = await open(server)
  assert.equal(log.isEnded(), false)
  server.end()
  assert.equal(log.isEnded(), true)
})

test('the index of a line is found by its number, also between numbers that are missing', () => {
  const items = [2, 3, 7, 9].map((number) => ({ number }))
  assert.deepEqual(
    [1, 2, 6, 7, 8, 100].map((number) => indexAtOrBefore(items, number)),
    [-1, 0, 1, 2, 2, 3],
  )
})

test('selected lines are an address, and are copied without numbers and colors', async () => {
  assert.deepEqual(parseSelection('#L240-260'), { first: 240, last: 260 })
  assert.deepEqual(parseSelection('L260-L240'), { first: 240, last: 260 })
  assert.deepEqual(parseSelection('#L7'), { first: 7, last: 7 })
  assert.deepEqual(
    ['', '#L', '#Lx', '#L1-', '#main', '#L1234567890123'].map(parseSelection),
    Array(6).fill(null),
  )
  assert.equal(toHash({ first: 240, last: 260 }), 'L240-260')
  assert.equal(toHash({ first: 7, last: 7 }), 'L7')
  assert.deepEqual(extended({ first: 5, last: 5 }, 2), { first: 2, last: 5 })
  assert.deepEqual(extended({ first: 5, last: 9 }, 7), { first: 5, last: 7 })

  const server = startServer((number) => `\u001b[31mline\u001b[0m ${number}`)
  server.write(5)
  const log = await open(server)
  assert.equal(textOf(log.lines.all(), { first: 2, last: 3 }), 'line 2\nline 3')
})
