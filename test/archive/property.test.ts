// Whatever an archive holds: it is refused, or everything it brought lies inside of its folder.
import assert from 'node:assert/strict'
import { lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { unpackArchive } from '../../src/archive/unpack.ts'
import { codeOf } from '../../src/errors.ts'
import { type ArchiveEntry, packEntries } from '../support/archive/archive.ts'
import { temporaryDirectory } from '../support/system/directory.ts'
import { sized } from '../support/system/drill-size.ts'

// Few names, that entries meet; outside there are things of the same names, that an escape finds something.
const part = fc.constantFrom('a', 'b', 'c', 'a', 'b', '..', '.', '')
const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))
const kind = fc.constantFrom(
  'file',
  'file',
  'directory',
  'symlink',
  'symlink',
  'link',
  'fifo',
) as fc.Arbitrary<'file'>
const mode = fc.integer({ min: 0, max: 0o7777 })
const entry = fc.record({ name: path, type: kind, linkname: path, mode, isPax: fc.boolean() })

function toHeader({
  name,
  type,
  linkname,
  mode,
  isPax,
}: {
  name: string
  type: 'file'
  linkname: string
  mode: number
  isPax: boolean
}): ArchiveEntry {
  const content = type === 'file' ? 'brought' : ''
  if (isPax) return { name: 'x', type, linkname: 'x', mode, content, pax: { path: name, linkpath: linkname } }
  return { name, type, linkname, mode, content }
}

/** Every path below, links not followed. */
function* walk(directory: string): Iterable<string> {
  for (const name of readdirSync(directory)) {
    const child = join(directory, name)
    yield child
    if (lstatSync(child).isDirectory()) yield* walk(child)
  }
}

function checkInside(tree: string): void {
  for (const path of walk(tree)) {
    const status = lstatSync(path)
    assert.ok(status.isFile() || status.isDirectory() || status.isSymbolicLink(), path)
    if (!status.isSymbolicLink()) assert.equal(status.mode & 0o7000, 0, path)
    const real = realOf(path)
    assert.ok(real === null || real === tree || real.startsWith(`${tree}/`), `${path} resolves to ${real}`)
  }
}

/** null when it leads to nothing, or in a circle. */
function realOf(path: string): string | null {
  try {
    return realpathSync(path)
  } catch (error) {
    assert.match(codeOf(error), /^(ENOENT|ENOTDIR|ELOOP)$/)
    return null
  }
}

/** A folder within folders, each of which has things of the names that entries have. */
function setScene(home: string) {
  const outside = [home, join(home, 'a'), join(home, 'a/a')]
  for (const path of outside) {
    mkdirSync(path, { recursive: true })
    for (const name of ['b', 'c']) writeFileSync(join(path, name), 'outside')
  }
  return { parent: outside[2]!, snapshot: () => [...walk(home)].map((path) => [path, contentOf(path)]) }
}

function contentOf(path: string): string | null {
  const status = lstatSync(path)
  return status.isFile() ? `${status.mode} ${status.nlink} ${readFileSync(path, 'utf8')}` : null
}

test('an archive is refused, or all of its entries are inside the directory', async (t) => {
  const home = temporaryDirectory(t)
  const { parent, snapshot } = setScene(home)
  const [file, tree] = [join(home, 'archive.tar.gz'), join(parent, 'tree')]
  let unpacked = 0
  const property = fc.asyncProperty(fc.array(entry, { minLength: 1, maxLength: 8 }), async (entries) => {
    writeFileSync(file, await packEntries(entries.map(toHeader)))
    const before = snapshot()
    try {
      await unpackArchive({ file, directory: tree, signal: new AbortController().signal })
      unpacked += 1
      checkInside(tree)
    } catch (error) {
      assert.equal(codeOf(error), 'archive_invalid', String(error))
    }
    rmSync(tree, { recursive: true, force: true })
    assert.deepEqual(snapshot(), before)
  })
  await fc.assert(property, { numRuns: sized(300, 600) })
  assert.ok(unpacked > 5, `only ${unpacked} were unpacked`)
})
