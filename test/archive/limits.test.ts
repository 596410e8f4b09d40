// What an archive may cost: entries, bytes and room are counted before anything of the next entry is written.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { unpackArchive } from '../../src/archive/unpack.ts'
import { packArchive, packEntries, packTar, tarEnd, tarHeader } from '../support/archive/archive.ts'
import { unpack, unpackAndFail } from '../support/archive/unpack.ts'
import { temporaryDirectory } from '../support/system/directory.ts'
import { long } from '../support/system/drill-size.ts'
import { smallDisk } from '../support/system/small-disk.ts'

const mebibyte = 1024 * 1024
const limits = { entries: 3, unpackedBytes: 1000, metadataBytes: mebibyte }

/** Many folder entries of the top itself, which cost nothing to write: gzip members may follow each other. */
function topEntries(thousands: number): Buffer {
  const thousand = gzipSync(
    Buffer.concat(Array.from({ length: 1000 }, () => tarHeader({ name: './', type: '5' }))),
  )
  return Buffer.concat([...Array.from({ length: thousands }, () => thousand), gzipSync(tarEnd)])
}

long('an archive of a million entries is refused, one of 200,000 is not', async (t) => {
  assert.equal(
    await unpackAndFail(t, topEntries(1000)),
    'archive_invalid: the archive has more than 200000 entries',
  )
  assert.deepEqual((await unpack(t, topEntries(200))).told, { entries: 200_000, bytes: 0, leftOut: null })
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

test('a large file is unpacked byte for byte', async (t) => {
  const content = randomBytes(20 * mebibyte)
  const archive = await packEntries([
    { name: 'big', content },
    { name: 'small', content: 'x' },
  ])

  const { directory, told } = await unpack(t, archive)

  assert.equal(told.bytes, content.length + 1)
  assert.ok(readFileSync(join(directory, 'big')).equals(content))
})

test('data after the end of an archive is not unpacked', async (t) => {
  const [before, behind] = [tarHeader({ name: 'before' }), tarHeader({ name: 'behind' })]

  const { directory } = await unpack(t, gzipSync(Buffer.concat([before, tarEnd, behind, tarEnd])))

  assert.deepEqual(readdirSync(directory), ['before'])
})

test('the keys of a global header are not copied for each entry', async (t) => {
  const keys = Array.from({ length: 45_000 }, (_, index) => `11 ${index.toString(36).padStart(4, '0')}=xx\n`)
  const global = Buffer.from(keys.join(''))
  const size = `${global.length.toString(8).padStart(11, '0')}\0`
  const padding = Buffer.alloc((512 - (global.length % 512)) % 512)
  const entries = Array.from({ length: 500 }, (_, index) => ({ name: 'x', pax: { path: `f${index}` } }))
  const header = tarHeader({ name: 'x', type: 'g', size })
  const start = performance.now()

  const { told: report } = await unpack(
    t,
    gzipSync(Buffer.concat([header, global, padding, await packTar(entries)])),
  )

  assert.equal(report.entries, 500)
  assert.ok(performance.now() - start < 10_000, 'it took more than 10 s')
})
