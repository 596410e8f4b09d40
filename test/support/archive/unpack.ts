// Unpacks archives into separate folders, and checks that nothing else was written next to them.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type UnpackRequest, unpackArchive } from '../../../src/archive/unpack.ts'
import { type Failure, messageOf } from '../../../src/errors.ts'
import { temporaryDirectory } from '../system/directory.ts'

type Options = Partial<Pick<UnpackRequest, 'keepsFolder' | 'limits' | 'roomBytes' | 'signal'>>

/** The folder and the result. */
export async function unpack(t: TestContext, archive: Buffer, options: Options = {}) {
  const { parent, directory, request } = prepare(t, archive)
  const unpacked = await unpackArchive({ ...request, ...options })
  assert.deepEqual(readdirSync(parent).sort(), ['archive.tar.gz', 'tree'])
  return { directory, told: unpacked, read: (path: string) => readFileSync(join(directory, path), 'utf8') }
}

/** The code and text of the refusal; fails if the archive is accepted. */
export async function unpackAndFail(t: TestContext, archive: Buffer, options: Options = {}): Promise<string> {
  const { parent, request } = prepare(t, archive)
  const refusal = await unpackArchive({ ...request, ...options }).then(
    () => assert.fail('it was unpacked'),
    (error: Failure) => error,
  )
  assert.deepEqual(readdirSync(parent), ['archive.tar.gz'])
  return `${refusal.code}: ${messageOf(refusal)}`
}

function prepare(t: TestContext, archive: Buffer) {
  const parent = temporaryDirectory(t)
  const [file, directory] = [join(parent, 'archive.tar.gz'), join(parent, 'tree')]
  writeFileSync(file, archive)
  return { parent, directory, request: { file, directory, signal: new AbortController().signal } }
}
