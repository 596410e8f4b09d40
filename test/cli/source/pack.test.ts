// Packing a source: what the server unpacks is what was there, and what it would refuse is refused before.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  readdirSync,
  readlinkSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { packSource } from '../../../src/cli/source/pack.ts'
import { archiveLimits, listSource } from '../../../src/cli/source/source-entries.ts'
import { unpack } from '../../support/archive/unpack.ts'
import { writeTree } from '../../support/archive/write-tree.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const { signal } = new AbortController()

test('the server unpacks what was packed: contents, modes, links, long and unusual names', async (t) => {
  const long = `${'deep/'.repeat(40)}${'n'.repeat(200)}`
  const directory = temporaryDirectory(t)
  writeTree(directory, {
    run: '#!/bin/sh\n',
    'a b/ü.txt': 'ü',
    [long]: 'far',
    'empty/.keep': '',
    'new\nline': 'n',
  })
  chmodSync(join(directory, 'run'), 0o755)
  chmodSync(join(directory, 'a b'), 0o750)
  symlinkSync('../run', join(directory, 'a b/up'))

  const { directory: out, read } = await unpack(t, await pack(directory))

  assert.deepEqual(
    [read('run'), read('a b/ü.txt'), read(long), read('new\nline')],
    ['#!/bin/sh\n', 'ü', 'far', 'n'],
  )
  assert.deepEqual([modeOf(join(out, 'run')), modeOf(join(out, 'a b'))], ['755', '750'])
  assert.equal(readlinkSync(join(out, 'a b/up')), '../run')
  assert.deepEqual(readdirSync(join(out, 'empty')), ['.keep'])
})

test('the same source produces the same bytes at any time', async (t) => {
  const [one, other] = [temporaryDirectory(t), temporaryDirectory(t)]
  writeTree(one, { b: '2', a: '1', 'c/d': '3' })
  writeTree(other, { 'c/d': '3', a: '1', b: '2' })
  utimesSync(join(other, 'a'), 1, 1)

  assert.ok((await pack(one)).equals(await pack(other)))
})

test('pipes are skipped and listed; a source without files is rejected', async (t) => {
  const directory = temporaryDirectory(t)
  spawnSync('mkfifo', [join(directory, 'pipe')])

  await assert.rejects(list(directory), { message: /nothing to upload/ })
  writeTree(directory, { a: '' })
  assert.deepEqual((await list(directory)).specialFiles, ['pipe'])
})

test("a source over the server's limit is rejected unread", async (t) => {
  const directory = temporaryDirectory(t)
  writeTree(directory, { 'models/big': '', a: '' })
  truncateSync(join(directory, 'models/big'), archiveLimits.unpackedBytes + 1)

  await assert.rejects(list(directory), {
    message: 'the source is too large: unpacked it exceeds 4 GiB',
    hint: /^exclude something in \.berthignore/,
  })
})

test('a file that shrinks while it is packed is a failure with that reason', async (t) => {
  const directory = temporaryDirectory(t)
  writeTree(directory, { a: '', b: '' })
  truncateSync(join(directory, 'b'), 64_000_000)
  const source = await list(directory)
  // From the first bytes of it on.
  const onPacked = () => truncateSync(join(directory, 'b'), 0)

  await assert.rejects(packSource(source, { signal, onPacked }), {
    message: 'b changed while it was being packed',
  })
})

function list(directory: string) {
  return listSource(directory, { signal, onProgress: () => {} })
}

async function pack(directory: string): Promise<Buffer> {
  const { file, sizeBytes } = await packSource(await list(directory), { signal, onPacked: () => {} })
  const { buffer } = await file.read({ buffer: Buffer.alloc(sizeBytes), position: 0 })
  await file.close()
  return buffer
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8)
}
