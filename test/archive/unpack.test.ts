// What comes out of an archive: the tree that its maker meant, whichever tar wrote it.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, readdirSync, readlinkSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { packArchive, packEntries } from '../support/archive/archive.ts'
import { unpack } from '../support/archive/unpack.ts'
import { writeTree } from '../support/archive/write-tree.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const modeOf = (path: string) => statSync(path).mode & 0o7777

test('files, folders and links are unpacked unchanged, and counted', async (t) => {
  const archive = await packEntries([
    { name: 'Dockerfile', content: 'FROM scratch' },
    { name: 'bin/', type: 'directory', mode: 0o755 },
    { name: 'bin/run', mode: 0o755, content: '#!' },
    { name: 'run', type: 'symlink', linkname: 'bin/run' },
    { name: 'bin/up', type: 'symlink', linkname: '../Dockerfile' },
    { name: 'copy', type: 'link', linkname: 'bin/run' },
    { name: 'a/deep/er', content: 'implied folders' },
    { name: 'empty' },
  ])

  const { directory, told, read } = await unpack(t, archive)

  assert.deepEqual(told, { entries: 8, bytes: 29, leftOut: null })
  assert.deepEqual(readdirSync(directory).sort(), ['Dockerfile', 'a', 'bin', 'copy', 'empty', 'run'])
  assert.deepEqual(
    [read('Dockerfile'), read('run'), read('copy'), read('empty')],
    ['FROM scratch', '#!', '#!', ''],
  )
  assert.deepEqual([read('a/deep/er'), read('bin/up')], ['implied folders', 'FROM scratch'])
  assert.equal(readlinkSync(join(directory, 'run')), 'bin/run')
})

test('modes are applied under any umask, without set-user-id, and the owner can always read', async (t) => {
  const archive = await packEntries([
    { name: 'open', mode: 0o666, content: 'x' },
    { name: 'root', mode: 0o4755, content: 'x' },
    { name: 'locked', mode: 0o040, content: 'x' },
    { name: 'shut/', type: 'directory', mode: 0o055 },
    { name: 'shut/in', content: 'x' },
  ])
  const previous = process.umask(0o077)
  t.after(() => process.umask(previous))

  const { directory } = await unpack(t, archive)

  const modes = ['open', 'root', 'locked', 'shut'].map((name) => modeOf(join(directory, name)).toString(8))
  assert.deepEqual(modes, ['666', '755', '640', '755'])
})

test('a single top-level folder is stripped; with anything next to it, it stays', async (t) => {
  const wrapped = await unpack(t, await packArchive({ 'app-1.2/Dockerfile': 'x', 'app-1.2/src/a': 'y' }))
  const beside = await unpack(t, await packArchive({ 'app-1.2/Dockerfile': 'x', README: 'y' }))
  const file = await unpack(t, await packArchive({ Dockerfile: 'x' }))

  assert.deepEqual(readdirSync(wrapped.directory).sort(), ['Dockerfile', 'src'])
  assert.deepEqual(readdirSync(beside.directory).sort(), ['README', 'app-1.2'])
  assert.deepEqual(readdirSync(file.directory), ['Dockerfile'])
  assert.deepEqual([wrapped.told.leftOut, beside.told.leftOut], ["'app-1.2'", null])
})

test('a single top-level folder stays on request, and a link may then point next to it', async (t) => {
  const archive = await packEntries([
    { name: 'app/Dockerfile', content: 'x' },
    { name: 'app/up', type: 'symlink', linkname: '../app/Dockerfile' },
  ])
  const requests: string[][] = []
  const keepsFolder = (tree: string, folder: string) => requests.push([...readdirSync(tree), folder]) > 0

  const { directory, told, read } = await unpack(t, archive, { keepsFolder })

  assert.deepEqual([readdirSync(directory), requests, told.leftOut], [['app'], [['app', 'app']], null])
  assert.equal(read('app/up'), 'x')
})

test('of entries with the same name the last one counts, whatever their kinds', async (t) => {
  const archive = await packEntries([
    { name: 'a', content: 'first' },
    { name: 'b', type: 'link', linkname: 'a' },
    { name: 'a', content: 'last' },
    { name: 'c', type: 'symlink', linkname: 'a' },
    { name: 'c', content: 'no link' },
    { name: 'd', type: 'symlink', linkname: 'folder' },
    { name: 'folder/', type: 'directory' },
    { name: 'd/', type: 'directory' },
    { name: 'd/in', content: 'in d' },
    { name: 'e', content: 'file' },
    { name: 'e', type: 'symlink', linkname: 'a' },
    { name: 'folder/', type: 'directory', mode: 0o700 },
  ])

  const { directory, read } = await unpack(t, archive)

  assert.deepEqual(
    [read('a'), read('b'), read('c'), read('d/in'), read('e')],
    ['last', 'first', 'no link', 'in d', 'last'],
  )
  assert.deepEqual(readdirSync(join(directory, 'folder')), [])
  assert.equal(modeOf(join(directory, 'folder')), 0o700)
})

test('names keep their case and characters, and may be long', async (t) => {
  const long = `${'folder-'.repeat(30)}/${'name-'.repeat(30)}`
  const files = {
    README: '1',
    readme: '2',
    'nai\u0308ve': '3',
    'na\u00efve': '4',
    '.git/HEAD': '5',
    [long]: '6',
    ' a\\b ': '7',
  }

  const { directory, read } = await unpack(t, await packArchive(files))

  for (const [name, content] of Object.entries(files)) assert.equal(read(name), content)
  assert.equal(readdirSync(directory).length, 7)
})

for (const format of ['gnu', 'pax', 'ustar', 'v7', 'oldgnu']) {
  test(`archives that GNU tar writes as ${format} are unpacked identically`, async (t) => {
    const home = temporaryDirectory(t)
    const long = format === 'v7' ? 'long' : `${'f'.repeat(90)}/${'n'.repeat(90)}`
    const text = 'x'.repeat(100_000)
    writeTree(join(home, 'app'), { Dockerfile: 'FROM scratch', [long]: 'long', 'src/ünïcode': text })
    mkdirSync(join(home, 'app/empty'))
    symlinkSync('src/ünïcode', join(home, 'app/link'))
    linkSync(join(home, 'app/Dockerfile'), join(home, 'app/hard'))
    const archive = execFileSync('tar', ['-cz', `--format=${format}`, '-C', home, 'app'])

    const { directory, read } = await unpack(t, archive)

    assert.equal(readdirSync(directory).length, 6)
    assert.deepEqual([read('hard'), read(long), read('link')], ['FROM scratch', 'long', text])
  })
}
