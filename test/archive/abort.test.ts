// Giving up in the middle: at whatever moment, it ends with the reason that was given, and nothing is left.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { removeTree } from '../../src/archive/removal.ts'
import { unpackArchive } from '../../src/archive/unpack.ts'
import { packEntries } from '../support/archive/archive.ts'
import { writeTree } from '../support/archive/write-tree.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const content = randomBytes(300_000)
const entries = Array.from({ length: 60 }, (_, index) => ({ name: `d${index % 7}/f${index}`, content }))

test('an abort at any moment ends unpacking with its reason and leaves nothing behind', async (t) => {
  const parent = temporaryDirectory(t)
  const [file, directory] = [join(parent, 'archive.tar.gz'), join(parent, 'tree')]
  writeFileSync(file, await packEntries(entries))
  let aborted = 0
  for (let delayMs = 0; delayMs < 60; delayMs += 2) {
    const giveUp = new AbortController()
    const reason = new Error(`after ${delayMs} ms`)
    const unpacking = unpackArchive({ file, directory, signal: giveUp.signal })
    const outcome = unpacking.then(
      () => null,
      (error: unknown) => error,
    )
    await sleep(delayMs)
    giveUp.abort(reason)
    const error = await outcome
    if (error === null) continue
    aborted += 1
    assert.equal(error, reason)
    assert.deepEqual(readdirSync(parent), ['archive.tar.gz'])
  }
  assert.ok(aborted > 0)
})

test('the remains of a killed attempt are replaced', async (t) => {
  const parent = temporaryDirectory(t)
  const [file, directory] = [join(parent, 'archive.tar.gz'), join(parent, 'tree')]
  writeFileSync(file, await packEntries([{ name: 'new' }]))
  for (const left of ['tree', 'tree.part']) {
    mkdirSync(join(parent, left, 'deep/er'), { recursive: true })
    writeFileSync(join(parent, left, 'deep/er/old'), 'old')
  }

  await unpackArchive({ file, directory, signal: new AbortController().signal })

  assert.deepEqual(
    [readdirSync(parent).sort(), readdirSync(directory)],
    [['archive.tar.gz', 'tree'], ['new']],
  )
})

test('a missing archive is not reported as invalid', async (t) => {
  const parent = temporaryDirectory(t)
  const file = join(parent, 'missing.tar.gz')

  const unpacking = unpackArchive({
    file,
    directory: join(parent, 'tree'),
    signal: new AbortController().signal,
  })

  await assert.rejects(unpacking, { code: 'ENOENT' })
  assert.deepEqual(readdirSync(parent), [])
})

test('everything below the folder is removed; link targets stay', async (t) => {
  const home = temporaryDirectory(t)
  const files = Array.from({ length: 200 }, (_, index) => [`d${index % 5}/deep/er/f${index}`, 'x'])
  writeTree(join(home, 'tree'), Object.fromEntries(files))
  writeTree(join(home, 'kept'), { file: 'x' })
  mkdirSync(join(home, 'tree/empty'))
  for (const target of ['../kept', '../kept/file', 'nowhere']) {
    symlinkSync(target, join(home, 'tree', `to-${target.replaceAll('/', '-')}`))
  }

  await removeTree(join(home, 'tree'))
  await removeTree(join(home, 'tree'))

  assert.deepEqual([readdirSync(home), readdirSync(join(home, 'kept'))], [['kept'], ['file']])
})
