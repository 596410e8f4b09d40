// Real reader processes, with tasks that misbehave.
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Readers } from '../../src/readers/readers.ts'
import { eventually } from '../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const program = fileURLToPath(new URL('odd-reader.ts', import.meta.url))
const options = { program, maxReaders: 1, maxTaskSeconds: 1, maxHeapMib: 64 }
const ada = { owner: 'ada' }

test('a task that never ends is ended, and the next one is done by another process', async () => {
  const readers = new Readers(options)
  const first = await readers.run('pid', null, ada)
  const spin = readers.run('spin', null, ada)
  const second = readers.run('pid', null, ada)
  await assert.rejects(spin, { code: 'too_complex', message: 'reading it takes more than 1 s' })
  assert.notEqual(await second, first)
  assert.equal(isAlive(first as number), false)
})

test('a task that takes all memory ends its process only', async () => {
  const readers = new Readers({ ...options, maxTaskSeconds: 600 })
  const message = 'reading it takes too much memory'
  await assert.rejects(readers.run('fill', null, ada), { code: 'too_complex', message })
  assert.equal(typeof (await readers.run('pid', null, ada)), 'number')
})

test('the text of another owner is read before the second text of the first one', async (t) => {
  const readers = new Readers(options)
  const file = join(await temporaryDirectory(t), 'notes')
  const note = (owner: string, line: string) => readers.run('note', { file, line }, { owner })
  await Promise.all([note('ada', 'ada 1'), note('ada', 'ada 2'), note('ada', 'ada 3'), note('bob', 'bob 1')])
  assert.deepEqual((await readFile(file, 'utf8')).trim().split('\n'), ['ada 1', 'bob 1', 'ada 2', 'ada 3'])
})

test('two texts of one owner do not occupy two readers', async (t) => {
  const readers = new Readers({ ...options, maxReaders: 2, maxTaskSeconds: 600 })
  const stop = new AbortController()
  const spins = [1, 2].map(() => readers.run('spin', null, { ...ada, signal: stop.signal }))
  t.after(() => stop.abort())
  assert.equal(typeof (await readers.run('pid', null, { owner: 'bob' })), 'number')
  stop.abort('enough')
  for (const spin of spins) await assert.rejects(spin, (reason) => reason === 'enough')
})

test('an owner with too many texts waiting is refused, and others are not', async (t) => {
  const readers = new Readers({ ...options, maxTaskSeconds: 600 })
  const stop = new AbortController()
  t.after(() => stop.abort())
  const ended = Array.from({ length: 258 }, () =>
    readers.run('spin', null, { ...ada, signal: stop.signal }).catch((error: unknown) => error),
  )
  assert.equal(((await ended.at(-1)) as { code: string }).code, 'slow_down')
  const other = readers.run('pid', null, { owner: 'bob' })
  stop.abort('enough')
  assert.equal(typeof (await other), 'number')
})

test('a reader knows no variable of the daemon', async () => {
  const env = await new Readers(options).run('env', null, ada)
  assert.deepEqual(
    Object.keys(env as object).filter((name) => !/^(PATH|NODE_CHANNEL_.*)$/.test(name)),
    [],
  )
})

test('a reader ends with its daemon, also when that is killed', async () => {
  const daemon = fork(fileURLToPath(new URL('odd-daemon.ts', import.meta.url)))
  const [pid] = (await once(daemon, 'message')) as [number]
  assert.ok(isAlive(pid))
  daemon.kill('SIGKILL')
  await eventually('the end of the reader', () => !isAlive(pid))
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
