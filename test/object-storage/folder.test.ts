// Objects as files: whole or not at all, private, and never in a folder whose disk is not mounted.
import assert, { deepEqual, equal } from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openFolder } from '../../src/object-storage/folder.ts'
import { broken, mebibytes, namesIn, never, pieces, readBack } from '../support/object-storage/contents.ts'
import { temporaryDirectory } from '../support/system/directory.ts'
import { smallDisk } from '../support/system/small-disk.ts'

function start(t: TestContext) {
  const directory = join(temporaryDirectory(t), 'backups')
  return { directory, store: openFolder({ directory, isOwn: true }) }
}

const modeOf = (path: string) => statSync(path).mode & 0o777

test('an object has the size and the hash that were returned, and is private to its owner', async (t) => {
  const { directory, store } = start(t)

  const facts = await store.put('shop-db/one.dump', pieces('one', ' two'), never)

  equal(facts.sizeBytes, 7)
  deepEqual(await readBack(store, 'shop-db/one.dump'), facts)
  equal((await store.get('shop-db/one.dump', never)).sizeBytes, 7)
  const modes = ['shop-db/one.dump', 'shop-db', ''].map((name) => modeOf(join(directory, name)))
  deepEqual(modes, [0o600, 0o700, 0o700])
})

test('content that fails, or a signal, leaves what was there before', async (t) => {
  const { directory, store } = start(t)
  await store.put('shop-db/one.dump', pieces('first'), never)
  const before = await readBack(store, 'shop-db/one.dump')
  const ending = new AbortController()
  async function* aborted() {
    yield Buffer.from('a')
    ending.abort(new Error('enough'))
    yield Buffer.from('b')
  }

  await assert.rejects(store.put('shop-db/one.dump', broken(2, new Error('no more')), never), /no more/)
  await assert.rejects(store.put('shop-db/one.dump', aborted(), ending.signal), /enough/)

  deepEqual(await readBack(store, 'shop-db/one.dump'), before)
  deepEqual(readdirSync(join(directory, 'shop-db')), ['one.dump'])
})

test('what a kill left is no object, and goes with the next put or remove', async (t) => {
  const { directory, store } = start(t)
  mkdirSync(join(directory, 'shop-db'), { recursive: true })
  writeFileSync(join(directory, 'shop-db/one.dump.part'), 'a long one that broke off')

  deepEqual(await namesIn(store), [])
  await assert.rejects(store.get('shop-db/one.dump', never), { code: 'backup_failed', message: /is gone$/ })
  await store.put('shop-db/one.dump', pieces('short'), never)
  deepEqual(readdirSync(join(directory, 'shop-db')), ['one.dump'])
  writeFileSync(join(directory, 'shop-db/one.dump.part'), 'again')
  await store.remove('shop-db/one.dump', never)
  equal(existsSync(join(directory, 'shop-db')), false)
  await store.remove('shop-db/one.dump', never)
})

test('the list has the names that begin with the prefix', async (t) => {
  const { directory, store } = start(t)
  deepEqual(await namesIn(store), [])
  for (const name of ['a/1', 'a/2', 'b/1']) await store.put(name, pieces(name), never)

  deepEqual(await namesIn(store, 'a/'), ['a/1', 'a/2'])
  await store.remove('a/1', never)
  deepEqual(await namesIn(store), ['a/2', 'b/1'])
  equal(store.locationOf('a/2'), join(directory, 'a/2'))
})

test('a configured folder is not created: a missing one means an unmounted disk', async (t) => {
  const directory = join(temporaryDirectory(t), 'backups')
  const store = openFolder({ directory, isOwn: false })
  const message = `${directory} does not exist: is it mounted? (--backup-dir)`

  await assert.rejects(store.put('a/1', pieces('x'), never), { code: 'backup_failed', message })
  mkdirSync(directory)
  equal((await store.put('a/1', pieces('x'), never)).sizeBytes, 1)
})

test('a full disk is reported, and leaves nothing', async (t) => {
  const directory = smallDisk(t, 8)
  const store = openFolder({ directory, isOwn: false })
  const full = { code: 'backup_failed', message: /^it cannot be written: ENOSPC/ }

  await assert.rejects(store.put('a/1', mebibytes(12), never), full)

  equal(existsSync(join(directory, 'a')), false)
})
