// The pool of open files: its limit, which files stay open, and when each is closed.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { FilePool } from '../../../storage/log/file-pool.ts'
import { eventually } from '../../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

/** A pool over files of these names, and the last handle of each file. */
function openPool(t: TestContext, limit: number, names: string[]) {
  const directory = temporaryDirectory(t)
  const pool = new FilePool(limit)
  const handles: Record<string, FileHandle> = {}
  for (const name of names) writeFileSync(join(directory, name), name)
  t.after(() => pool.close())
  const use = (name: string, during: () => Promise<unknown> = async () => undefined) =>
    pool.use(join(directory, name), (file) => {
      handles[name] = file
      return during()
    })
  const isOpen = (name: string) => handles[name]!.fd >= 0
  return { pool, directory, handles, use, isOpen, openOnes: () => names.filter((name) => isOpen(name)) }
}

/** Work that runs until the test ends it. */
function held() {
  let [begin, end] = [() => {}, () => {}]
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const during = () => {
    begin()
    return ended
  }
  return { begun, end, during }
}

async function shortPause(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await setImmediate()
}

test('the number of files in use is limited, and waiters are served in order', async (t) => {
  const { use } = openPool(t, 2, ['a', 'b', 'c', 'd'])
  const started: string[] = []
  const holds = ['a', 'b', 'c', 'd'].map((name) => ({ name, ...held() }))
  const uses = holds.map(({ name, during }) =>
    use(name, () => {
      started.push(name)
      return during()
    }),
  )
  await eventually('the first two', () => started.length === 2)
  await shortPause()
  equal(started.length, 2)

  holds[0]!.end()
  await eventually('the third', () => started.length === 3)
  await shortPause()
  deepEqual(started.slice(2), ['c'])
  for (const { end } of holds) end()
  await Promise.all(uses)

  deepEqual(started.slice(2), ['c', 'd'])
  const again = held()
  const more = ['a', 'b', 'c'].map((name) => use(name, again.during))
  again.end()
  await Promise.all(more)
})

test('a file stays open for its next use; the least recently used one is closed for another', async (t) => {
  const { use, handles, openOnes, isOpen } = openPool(t, 2, ['a', 'b', 'c'])
  await use('a')
  await use('b')
  const { a, b } = handles
  await use('a')
  deepEqual([handles.a === a, a!.fd >= 0, b!.fd >= 0], [true, true, true])

  await use('c')

  await eventually('b is closed', () => !isOpen('b'))
  await shortPause()
  deepEqual(openOnes(), ['a', 'c'])
})

test('a file in use is never closed for another', async (t) => {
  const { use, openOnes, isOpen } = openPool(t, 2, ['a', 'b', 'c'])
  const hold = held()
  const using = use('a', hold.during)
  await hold.begun
  await use('b')
  await use('c')
  await eventually('b is closed', () => !isOpen('b'))
  await shortPause()
  deepEqual(openOnes(), ['a', 'c'])

  hold.end()
  await using
  await shortPause()
  deepEqual(openOnes(), ['a', 'c'])
})

test('a removed file is closed when its last user is done, and reopened for the next', async (t) => {
  const { pool, directory, use, handles, isOpen } = openPool(t, 4, ['a', 'b'])
  const [one, two] = [held(), held()]
  const using = [use('a', one.during), use('a', two.during)]
  await Promise.all([one.begun, two.begun])
  await use('b')
  const first = handles.a!

  pool.evict(join(directory, 'a'))
  pool.evict(join(directory, 'b'))
  pool.evict(join(directory, 'nobody'))
  one.end()
  await using[0]
  await eventually('b is closed', () => !isOpen('b'))
  await shortPause()
  equal(first.fd >= 0, true, 'the second one still uses it')
  two.end()
  await using[1]

  await eventually('a is closed', () => first.fd < 0)
  await use('a')
  deepEqual([handles.a === first, isOpen('a')], [false, true])
})

test('after a failure the file is opened again', async (t) => {
  const { use, handles } = openPool(t, 2, ['a'])
  const fail = () => Promise.reject(new Error('no space left'))
  await rejects(use('a', fail), { message: 'no space left' })
  const first = handles.a!
  await eventually('it is closed', () => first.fd < 0)

  await use('a')

  equal(handles.a === first, false)
})

test('a deleted file stays deleted, and frees its slot', async (t) => {
  const { directory, use } = openPool(t, 1, ['a'])
  for (const _ of [1, 2]) await rejects(use('nobody'), { code: 'ENOENT' })
  equal(existsSync(join(directory, 'nobody')), false)
  await use('a')
})

test('closing the pool closes every file; a file in use closes when its user is done', async (t) => {
  const { pool, use, isOpen } = openPool(t, 2, ['a', 'b'])
  const hold = held()
  const using = use('a', hold.during)
  await hold.begun
  await use('b')

  await pool.close()
  deepEqual([isOpen('a'), isOpen('b')], [true, false])
  hold.end()
  await using

  await eventually('a is closed', () => !isOpen('a'))
  await use('b')
  await eventually('nothing stays open any more', () => !isOpen('b'))
})
