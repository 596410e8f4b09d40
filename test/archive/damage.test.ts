// Archives whose bytes are broken: each is refused, says what is wrong, and leaves nothing.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { parsePax } from '../../src/archive/entries.ts'
import { extended, octal, packEntries, packTar, tarEnd, tarHeader } from '../support/archive/archive.ts'
import { unpackAndFail } from '../support/archive/unpack.ts'

const invalid = (problem: string) => `archive_invalid: ${problem}`
const first = { name: 'first', content: 'x' }
const zip = (...blocks: Buffer[]) => gzipSync(Buffer.concat(blocks))
const plain = tarHeader({ name: 'file' })

const badBytes: Record<string, [archive: () => Buffer | Promise<Buffer>, says: string]> = {
  'that is not gzip': [
    () => Buffer.from('PK\u0003\u0004 something else'),
    invalid('the archive is not gzip'),
  ],
  'that is empty': [() => Buffer.alloc(0), invalid('the archive is cut off')],
  'without entries': [() => zip(tarEnd), invalid('the archive is empty')],
  'whose gzip is cut off': [
    async () => (await packEntries([{ name: 'big', content: randomBytes(600_000) }])).subarray(0, 500_000),
    invalid("the archive is cut off in 'big'"),
  ],
  'whose gzip is damaged': [
    async () =>
      (await packEntries([{ name: 'big', content: randomBytes(600_000) }])).fill(0xff, 300_000, 300_100),
    invalid("the archive is damaged in 'big'"),
  ],
  'whose checksum is wrong': [
    async () => {
      const archive = await packEntries([first])
      return archive.fill(0, archive.length - 8, archive.length - 4)
    },
    invalid('the archive is damaged'),
  ],
  'whose tar is cut off in a file': [
    async () => gzipSync((await packTar([{ name: 'big', content: 'x'.repeat(5000) }])).subarray(0, 3000)),
    invalid("the archive is cut off in 'big'"),
  ],
  'whose tar has no end': [() => zip(plain), invalid('the archive is cut off in a header')],
  'of garbage': [() => zip(randomBytes(5000)), invalid('the archive contains an invalid tar header')],
  'with a negative size': [
    () => zip(tarHeader({ name: 'f', size: '\xff'.repeat(12) }), tarEnd),
    invalid('the archive has a header with a number that is negative or too large'),
  ],
  'with an enormous size': [
    () => zip(tarHeader({ name: 'f', size: `\x80${'\0'.repeat(4)}\x7f${'\xff'.repeat(6)}` }), tarEnd),
    invalid('the archive has a header with a number that is negative or too large'),
  ],
  'with an invalid size': [
    () => zip(tarHeader({ name: 'f', size: '99999999999\0' }), tarEnd),
    invalid('the archive has a header with a broken number'),
  ],
  'with a link that has content': [
    () => zip(tarHeader({ name: 'l', type: '2', size: octal(512) }), plain, tarEnd),
    invalid("'l' is a link with content"),
  ],
  'of an unknown type': [
    () => zip(tarHeader({ name: 'f', type: 'Z' }), tarEnd),
    invalid("'f' is of a type that is not known ('Z')"),
  ],
  'with an old sparse file': [
    () => zip(tarHeader({ name: 'f', type: 'S' }), tarEnd),
    invalid("'f' is a sparse file"),
  ],
  'with a name that is not UTF-8': [
    () => zip(tarHeader({ name: '\xff' }), tarEnd),
    invalid('the archive has a name that is not UTF-8'),
  ],
  'with a broken extended header': [
    () => zip(extended('x', '99 path=a\n'), plain, tarEnd),
    invalid('the archive has a broken extended header'),
  ],
  'with a NUL in an extended name': [
    () => zip(extended('x', '12 path=a\0b\n'), plain, tarEnd),
    invalid('the archive has a name with a NUL in it'),
  ],
  'with a negative extended size': [
    () => zip(extended('x', '11 size=-5\n'), plain, tarEnd),
    invalid('the archive has an extended header with a broken size'),
  ],
  'with an extended size above the cap': [
    () => zip(extended('x', '20 size=99999999999\n'), plain, tarEnd),
    invalid("'file' makes the archive exceed 4294967296 bytes when unpacked"),
  ],
  'with one name for all entries': [
    () => zip(extended('g', '10 path=a\n'), plain, tarEnd),
    invalid('the archive gives all entries one name or size'),
  ],
  'with a long name that climbs': [
    () => zip(extended('L', '../evil\0'), plain, tarEnd),
    invalid("'../evil' has .. in its path"),
  ],
  'with 1,001 fields in an extended header': [
    () => zip(extended('x', '6 a=b\n'.repeat(1001)), plain, tarEnd),
    invalid('the archive has too many fields in an extended header'),
  ],
  'with an extended header of 2 MiB': [
    () => zip(extended('x', `2097152 a=${'x'.repeat(2_097_141)}\n`), plain, tarEnd),
    invalid('the archive has too much metadata before an entry'),
  ],
  'with 17 MiB of extended headers before an entry': [
    () =>
      zip(
        ...Array.from({ length: 17 }, () => extended('x', `1048000 a=${'x'.repeat(1_047_989)}\n`)),
        plain,
        tarEnd,
      ),
    invalid('the archive has too much metadata before an entry'),
  ],
  'that continues for 20 MiB after its end': [
    () => zip(plain, tarEnd, Buffer.alloc(20 * 1024 * 1024)),
    invalid('the archive continues after its end'),
  ],
}

for (const [what, [make, says]] of Object.entries(badBytes)) {
  test(`an archive ${what} is refused`, async (t) => {
    assert.equal(await unpackAndFail(t, await make()), says)
  })
}

const parse = (text: string) => parsePax(Buffer.from(text))

test('the last name, link and size are used, and all other records are ignored', () => {
  assert.deepEqual(parse('9 path=x\n13 comment=x\n16 path=a/ünï\n19 linkpath=../b=c\n13 size=1234\n'), {
    name: 'a/ünï',
    linkName: '../b=c',
    sizeBytes: 1234,
  })
  assert.deepEqual(parse(''), {})
  assert.deepEqual(parse('9 path=\n\n'), { name: '\n' })
})
