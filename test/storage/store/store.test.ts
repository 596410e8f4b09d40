// One commit is one transaction: atomic, also under concurrency, and it always settles.
import { deepEqual, equal, rejects, throws } from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { StorageError } from '../../../storage/store/errors.ts'
import { openStore } from '../../../storage/store/store.ts'
import { flipBit, openTestStore } from '../../support/storage/store-fixtures.ts'
import { holdWriteLock } from '../../support/storage/write-lock-holder.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

test('a commit that throws leaves nothing behind, and concurrent commits are complete', async (t) => {
  const store = openTestStore(t, temporaryDirectory(t))
  const rows = store.table<number>('rows')
  const refusal = new StorageError('refused', 'no')
  const commits = Array.from({ length: 20 }, (_, number) =>
    store.commit(() => {
      rows.put(`first-${number}`, number)
      if (number % 3 === 0) throw refusal
      rows.put(`second-${number}`, number)
      return number
    }),
  )

  const outcomes = await Promise.allSettled(commits)

  const kept = Array.from({ length: 20 }, (_, number) => number).filter((number) => number % 3 !== 0)
  deepEqual(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason)),
    Array.from({ length: 20 }, (_, number) => (number % 3 === 0 ? refusal : number)),
  )
  deepEqual([...rows.keys()].sort(), kept.flatMap((number) => [`first-${number}`, `second-${number}`]).sort())
})

test('a commit that throws changes and removes no existing rows', async (t) => {
  const store = openTestStore(t, temporaryDirectory(t))
  const rows = store.table<string>('rows')
  await store.commit(() => rows.put('kept', 'before'))
  const failing = store.commit((commit) => {
    rows.put('kept', 'after')
    rows.remove('kept')
    commit.announce({ kind: 'service', id: 'svc-1', service_id: 'svc-1', status: 'live', revision: 2 })
    throw new Error('half way')
  })

  await rejects(failing, { message: 'half way' })

  deepEqual([rows.get('kept'), store.changes.since(0)], ['before', []])
})

test('a commit reads its own writes and those of the previous commit', async (t) => {
  const store = openTestStore(t, temporaryDirectory(t))
  const rows = store.table<number>('rows')
  const countUp = () => store.commit(() => rows.put('count', (rows.get('count') ?? 0) + 1))

  await Promise.all(Array.from({ length: 100 }, countUp))

  equal(rows.get('count'), 100)
})

test('a row with a flipped bit is refused, and its neighbours are read', async (t) => {
  const directory = temporaryDirectory(t)
  const first = openStore(directory, { onPanic: t.assert.fail })
  const rows = first.table<string>('rows')
  await first.commit(() => ['a', 'b', 'c'].forEach((key) => void rows.put(key, `value of ${key}`)))
  await first.close()
  await flipBit(directory, 'rows', 'b')

  const damaged = openTestStore(t, directory).table<string>('rows')

  const refusal = { code: 'row_damaged', message: 'the row "b" of table rows fails its checksum' }
  throws(() => damaged.get('b'), refusal)
  deepEqual(
    [...damaged.validRows()].map(({ key }) => key),
    ['a', 'c'],
  )
  deepEqual([damaged.get('a'), damaged.get('c')], ['value of a', 'value of c'])
  deepEqual([...damaged.keys()], ['a', 'b', 'c'])
})

test('a commit that times out is reported as a panic and refused', async (t) => {
  const directory = temporaryDirectory(t)
  const panics: string[] = []
  const store = openStore(directory, { onPanic: (reason) => panics.push(reason), commitTimeoutMs: 200 })
  const rows = store.table<number>('rows')
  await store.commit(() => rows.put('before', 1))
  const holder = await holdWriteLock(t, directory)

  await rejects(
    store.commit(() => rows.put('stuck', 1)),
    { code: 'commit_failed', message: 'the store did not finish a commit within 0.2s' },
  )

  deepEqual(panics, ['the store did not finish a commit within 0.2s'])
  await holder.release()
  await store.close()
})

test('a blocked event loop does not count as a commit that hangs', async (t) => {
  const store = openStore(temporaryDirectory(t), { onPanic: t.assert.fail, commitTimeoutMs: 400 })
  t.after(() => store.close())
  const rows = store.table<number>('rows')
  const block = () => {
    const endsAt = performance.now() + 800
    while (performance.now() < endsAt);
  }

  const commit = store.commit(() => rows.put('during', 1))
  for (let count = 0; count < 3; count++) {
    block()
    await nextTurn()
  }

  await commit
  equal(rows.get('during'), 1)
})

test('a commit that is pending at the close succeeds, and a later read is refused', async (t) => {
  const store = openStore(temporaryDirectory(t), { onPanic: t.assert.fail })
  const rows = store.table<string>('rows')
  await store.commit(() => rows.put('first', 'x'))
  rows.get('first')

  const pending = store.commit(() => rows.put('second', `${rows.get('first')}y`))
  const closing = store.close()
  await pending
  await closing

  for (const read of [rows.get, rows.getOrNull, rows.has]) {
    throws(() => read('first'), { code: 'store_closed' })
  }
  for (const list of [rows.keys, rows.validRows]) throws(() => [...list()], { code: 'store_closed' })
})

test('a read while the store closes is refused instead of a crash', async (t) => {
  const store = openStore(temporaryDirectory(t), { onPanic: t.assert.fail })
  const rows = store.table<string>('rows')
  await store.commit(() => rows.put('first', 'x'))
  const isClosed = store.close().then(() => true)

  // lmdb reported such a read with an uncaught error of a timer, or with a segmentation fault.
  const codes = new Set<string>()
  while ((await Promise.race([isClosed, nextTurn(false)])) === false) {
    try {
      void store.commit(() => rows.put('late', 'x'.repeat(10_000))).catch(() => undefined)
      rows.get('first')
    } catch (error) {
      codes.add((error as StorageError).code)
    }
  }
  await rejects(async () => rows.get('first'), { code: 'store_closed' })
  deepEqual(
    [...codes].filter((code) => code !== 'store_closed'),
    [],
  )
})

test('a file that is not a store is refused, and an empty file is a new store', async (t) => {
  const directory = temporaryDirectory(t)
  const path = join(directory, 'store')
  const message = `${path} cannot be opened: data.mdb is not an LMDB file`
  mkdirSync(path)

  for (const text of ['short', 'no store at all'.repeat(1000)]) {
    writeFileSync(join(path, 'data.mdb'), text)
    throws(() => openStore(directory, { onPanic: t.assert.fail }), { code: 'store_unusable', message })
  }
  writeFileSync(join(path, 'data.mdb'), '')
  const store = openTestStore(t, directory)

  await store.commit(() => store.table('rows').put('a', 1))
})

test('a range is bounded and can be read in both directions', async (t) => {
  const store = openTestStore(t, temporaryDirectory(t))
  const rows = store.table<string>('rows')
  await store.commit(() => ['a', 'b', 'c', 'd'].forEach((key) => void rows.put(key, key.toUpperCase())))

  const backwards = [...rows.validRows({ start: 'd', end: 'a', reverse: true, limit: 2 })]

  deepEqual(backwards, [
    { key: 'd', value: 'D' },
    { key: 'c', value: 'C' },
  ])
  deepEqual([...rows.keys({ start: 'b', end: 'd' })], ['b', 'c'])
})
