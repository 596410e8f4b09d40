// What an archive may cost: entries, bytes and room are counted before anything of the next entry is written.
import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { unpackArchive } from '../../src/archive/unpack.ts'
import { packArchive, packEntries, tarEnd, tarHeader } from '../support/archive/archive.ts'
import { unpack, unpackAndFail } from '../support/archive/unpack.ts'
import { temporaryDirectory } from '../support/system/directory.ts'
import { smallDisk } from '../support/system/small-disk.ts'

const mebibyte = 1024 * 1024
const limits = { entries: 3, unpackedBytes: 1000, metadataBytes: mebibyte }

test('an archive with more entries than the limit is refused', async (t) => {
  const archive = await packArchive({ a: 'x', b: 'x', c: 'x', d: 'x' })

  const refusal = await unpackAndFail(t, archive, { limits })

  assert.equal(refusal, 'archive_invalid: the archive has more than 3 entries')
})

test('the entry that exceeds the size limit is named, and none of it is written', async (t) => {
  const archive = await packArchive({ a: 'x'.repeat(600), b: 'x'.repeat(600) })

  const refusal = await unpackAndFail(t, archive, { limits })

  assert.equal(refusal, "archive_invalid: 'b' makes the archive exceed 1000 bytes when unpacked")
})

test('unpacking stops before the disk is full', async (t) => {
  const archive = await packArchive({ a: 'x'.repeat(600), b: 'x'.repeat(600) })

  assert.match(
    await unpackAndFail(t, archive, { roomBytes: 1000 }),
    /^insufficient_storage: there is not enough room/,
  )
})

test('a disk that fills up midway is reported, and the partial files are removed', async (t) => {
  const disk = smallDisk(t, 2)
  const file = join(temporaryDirectory(t), 'archive.tar.gz')
  writeFileSync(file, await packArchive({ a: 'x', b: 'x'.repeat(4 * mebibyte) }))

  const unpacking = unpackArchive({
    file,
    directory: join(disk, 'tree'),
    signal: new AbortController().signal,
  })

  await assert.rejects(unpacking, { code: 'insufficient_storage', message: /not enough room on the disk/ })
  assert.deepEqual(readdirSync(disk), [])
})

test('metadata of ordinary size is skipped, entry after entry', async (t) => {
  const pax = { comment: 'c'.repeat(200_000), 'SCHILY.xattr.user.x': 'x'.repeat(100_000) }
  const entries = Array.from({ length: 100 }, (_, index) => ({ name: `f${index}`, pax, content: 'x' }))

  assert.deepEqual((await unpack(t, await packEntries(entries))).told, {
    entries: 100,
    bytes: 100,
    leftOut: null,
  })
})

test('data after the end of an archive is not unpacked', async (t) => {
  const [before, behind] = [tarHeader({ name: 'before' }), tarHeader({ name: 'behind' })]

  const { directory } = await unpack(t, gzipSync(Buffer.concat([before, tarEnd, behind, tarEnd])))

  assert.deepEqual(readdirSync(directory), ['before'])
})
