// Archives with entries that would break something: each is refused, by its name, and leaves nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ArchiveEntry, packEntries } from '../support/archive/archive.ts'
import { unpackAndFail } from '../support/archive/unpack.ts'

const invalid = (problem: string) => `archive_invalid: ${problem}`
const first: ArchiveEntry = { name: 'first', content: 'x' }
const outward = (name: string, target: string) =>
  invalid(`'${name}' is a link that points out of the tree ('${target}')`)

const badEntries: Record<string, [entries: ArchiveEntry[], says: string]> = {
  'an absolute path': [[{ name: '/etc/passwd' }], invalid("'/etc/passwd' is an absolute path")],
  'a path that climbs': [[{ name: 'a/../../b' }], invalid("'a/../../b' has .. in its path")],
  'a path that climbs and returns': [[{ name: 'a/../b' }], invalid("'a/../b' has .. in its path")],
  'no name': [[{ name: '' }], invalid("'' has no name")],
  'a file for the top': [[{ name: '.' }], invalid("'.' is not a valid file name")],
  'an absolute link': [[{ name: 'l', type: 'symlink', linkname: '/etc' }], outward('l', '/etc')],
  'a link that climbs out': [
    [{ name: 'a/l', type: 'symlink', linkname: '../../x' }],
    outward('a/l', '../../x'),
  ],
  'a link that climbs out later': [
    [{ name: 'a/l', type: 'symlink', linkname: './../b/../../x' }],
    outward('a/l', './../b/../../x'),
  ],
  'a link that points out of the only folder': [
    [first, { name: 'first/l', type: 'symlink', linkname: '../x' }].slice(1) as ArchiveEntry[],
    outward('first/l', '../x'),
  ],
  'a link with .. behind another link': [
    [
      { name: 'a/b/up', type: 'symlink', linkname: '../..' },
      { name: 'a/b/out', type: 'symlink', linkname: 'up/../etc' },
      first,
    ],
    invalid("'a/b/out' is a link with .. after a name ('up/../etc')"),
  ],
  'a link to nothing': [[{ name: 'l', type: 'symlink', linkname: '' }], invalid("'l' is a link to nothing")],
  'an entry below a link': [
    [
      { name: 'real/', type: 'directory' },
      { name: 'l', type: 'symlink', linkname: 'real' },
      { name: 'l/in' },
    ],
    invalid("'l' is a link, and another entry is below it"),
  ],
  'an entry below a file': [
    [first, { name: 'first/in' }],
    invalid("'first' is not a folder, but an entry is below it"),
  ],
  'a file in place of a folder': [
    [{ name: 'a/b', content: 'x' }, { name: 'a' }],
    invalid("'a' is a folder already"),
  ],
  'a hard link that climbs': [
    [{ name: 'l', type: 'link', linkname: '../x' }],
    invalid("'../x' has .. in its path"),
  ],
  'an absolute hard link': [
    [{ name: 'l', type: 'link', linkname: '/etc/passwd' }],
    invalid("'/etc/passwd' is an absolute path"),
  ],
  'a hard link to what is not there': [
    [{ name: 'l', type: 'link', linkname: 'x' }, { name: 'x' }],
    invalid("'l' is a hard link to x, which is not an earlier file of the archive"),
  ],
  'a hard link to a link': [
    [
      { name: 'a/b/s', type: 'symlink', linkname: '../..' },
      { name: 'l', type: 'link', linkname: 'a/b/s' },
    ],
    invalid("'l' is a hard link to a/b/s, which is not an earlier file of the archive"),
  ],
  'a hard link through a link': [
    [
      { name: 'd/f', content: 'x' },
      { name: 's', type: 'symlink', linkname: 'd' },
      { name: 'l', type: 'link', linkname: 's/f' },
    ],
    invalid("'l' is a hard link to s/f, which is not an earlier file of the archive"),
  ],
  'a character device': [[{ name: 'dev', type: 'character-device' }], invalid("'dev' is a character device")],
  'a block device': [[{ name: 'a/sda', type: 'block-device' }], invalid("'a/sda' is a block device")],
  'a pipe': [[{ name: 'p', type: 'fifo' }], invalid("'p' is a pipe")],
  'a part that is too long': [
    [{ name: `a/${'n'.repeat(256)}` }],
    invalid(`'a/${'n'.repeat(198)}…' has a name that is too long`),
  ],
  'a path that is too long': [
    [{ name: 'a/'.repeat(1025) }],
    invalid(`'${'a/'.repeat(100)}…' has a name that is too long`),
  ],
  'a name with control characters': [[{ name: '/a\n\u001b[2J' }], invalid("'/a??[2J' is an absolute path")],
  'a climb that an extended header hides': [
    [{ name: 'harmless', pax: { path: '../../evil' } }],
    invalid("'../../evil' has .. in its path"),
  ],
  'a link that an extended header hides': [
    [{ name: 'l', type: 'symlink', linkname: 'ok', pax: { linkpath: '/etc/passwd' } }],
    outward('l', '/etc/passwd'),
  ],
  'a sparse file': [
    [{ name: 'GNUSparseFile.0/x', content: 'map', pax: { 'GNU.sparse.major': '1' } }],
    invalid('the archive has a sparse file: make it without --sparse'),
  ],
}

for (const [what, [entries, says]] of Object.entries(badEntries)) {
  test(`an archive with ${what} is refused`, async (t) => {
    assert.equal(await unpackAndFail(t, await packEntries(entries)), says)
  })
}
