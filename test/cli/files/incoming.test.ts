// Archives of a hostile server: `berth cp` writes nothing outside of the target.
import assert from 'node:assert/strict'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { unpackInto } from '../../../src/cli/files/incoming.ts'
import { type ArchiveEntry, packTar } from '../../support/archive/archive.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

function target(t: TestContext) {
  const outer = temporaryDirectory(t)
  const folder = join(outer, 'target')
  mkdirSync(folder)
  writeFileSync(join(outer, 'precious'), 'mine')
  const unpack = async (name: string | null, ...entries: ArchiveEntry[]) => {
    const tar = await packTar(entries)
    return unpackInto(
      { folder, name },
      (async function* () {
        yield tar
      })(),
    )
  }
  const isUntouched = () =>
    readFileSync(join(outer, 'precious'), 'utf8') === 'mine' && readdirSync(outer).length === 2
  return { folder, unpack, isUntouched }
}

const folderEntry: ArchiveEntry = { name: 'top/', type: 'directory', mode: 0o755 }

test('a path that leads out is refused, whatever the first part is called', async (t) => {
  const { unpack, isUntouched } = target(t)
  for (const name of ['../precious', 'top/../../precious', '/tmp/berth-cp-precious', '..'])
    for (const here of ['new', null])
      await assert.rejects(
        unpack(here, folderEntry, { name, content: 'theirs' }),
        /is an absolute path|has \.\./,
      )
  assert.ok(isUntouched())
  assert.ok(!existsSync('/tmp/berth-cp-precious'))
})

test('a link out of the folder is left out, and nothing is written through a link', async (t) => {
  const { folder, unpack, isUntouched } = target(t)
  const { files, skipped } = await unpack(
    'new',
    folderEntry,
    { name: 'top/out', type: 'symlink', linkname: '../..' },
    { name: 'top/absolute', type: 'symlink', linkname: '/etc/passwd' },
    { name: 'top/up', type: 'symlink', linkname: '../other' },
    { name: 'top/disk', type: 'block-device', devmajor: 8, devminor: 0 },
    { name: 'top/pipe', type: 'fifo' },
    { name: 'top/inner', type: 'symlink', linkname: 'file' },
    { name: 'top/file', content: 'x' },
    { name: 'top/out/precious', content: 'theirs' },
  )
  assert.deepEqual([files, skipped.length], [2, 5])
  assert.ok(isUntouched())
  assert.ok(lstatSync(join(folder, 'new/inner')).isSymbolicLink())
  const below = [
    { name: 'top/self', type: 'symlink', linkname: '.' } as const,
    { name: 'top/self/file', content: 'theirs' },
  ]
  await assert.rejects(unpack('new', folderEntry, ...below), /is a link, and another entry is below it/)
  const hard = { name: 'top/hard', type: 'link', linkname: '../precious' } as const
  await assert.rejects(unpack('new', folderEntry, hard), /has \.\./)
})

test('links and files that were here before are not written through, nor replaced by folders', async (t) => {
  const { folder, unpack, isUntouched } = target(t)
  mkdirSync(join(folder, 'new'))
  symlinkSync('../../precious', join(folder, 'new/file'))
  symlinkSync('../..', join(folder, 'new/sub'))
  await unpack('new', folderEntry, { name: 'top/file', content: 'x' })
  assert.ok(lstatSync(join(folder, 'new/file')).isFile())
  await assert.rejects(unpack('new', folderEntry, { name: 'top/sub/', type: 'directory' }), /is not a folder/)
  await assert.rejects(unpack('new', folderEntry, { name: 'top/sub/precious', content: 'x' }), /is a link/)
  await assert.rejects(
    unpack('new', folderEntry, { name: 'top/file/', type: 'directory' }),
    /is not a folder/,
  )
  assert.ok(isUntouched())
})

test('a cut archive fails', async (t) => {
  const { folder } = target(t)
  const tar = await packTar([{ name: 'file', content: 'x'.repeat(10_000) }])
  const cut = (async function* () {
    yield tar.subarray(0, 5000)
  })()
  await assert.rejects(unpackInto({ folder, name: 'file' }, cut), /is cut off in 'file'/)
})
