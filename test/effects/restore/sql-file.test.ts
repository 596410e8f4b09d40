// The file of a restore: recognized by its content, and decompressed within a limit.
import assert from 'node:assert/strict'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { readSql } from '../../../src/effects/restore/sql-file.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

async function read(t: TestContext, content: Uint8Array | string): Promise<string> {
  const path = join(temporaryDirectory(t), 'file')
  writeFileSync(path, content)
  const pieces: Uint8Array[] = []
  const { size: sizeBytes } = statSync(path)
  for await (const piece of readSql({ path, sizeBytes }, () => {}, new AbortController().signal))
    if (pieces.length < 100) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

test('SQL is read plain or gzipped, without a byte order mark', async (t) => {
  for (const content of ['select 1;', '\ufeffselect 1;', gzipSync('select 1;'), gzipSync('\ufeffselect 1;')])
    assert.equal(await read(t, content), 'select 1;')
})

test('a gzip file that is truncated, or contains something else, is refused', async (t) => {
  const packed = gzipSync('select 1;\n'.repeat(1000))
  await assert.rejects(read(t, packed.subarray(0, -9)), /^Failure: it is truncated or changed: /)
  await assert.rejects(read(t, gzipSync('PGDMP and more')), /^Failure: a gzip file has to hold plain SQL/)
  await assert.rejects(
    read(t, gzipSync('-- MySQL dump 10.13')),
    /^Failure: the file is from MySQL or MariaDB/,
  )
})

test('a gzip bomb is refused at the limit', async (t) => {
  const first = gzipSync("select '")
  const part = gzipSync(Buffer.alloc(32 * 1024 * 1024, 'a'))
  const content = Buffer.concat([first, ...Array.from({ length: 33 }, () => part)])
  await assert.rejects(read(t, content), /^Failure: it unpacks to more than 1073741824 bytes/)
})
