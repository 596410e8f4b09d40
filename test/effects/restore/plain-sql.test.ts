// The file of a restore: recognized by its content, and unpacked.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { readSql } from '../../../src/effects/restore/plain-sql.ts'
import type { RestorePorts, RestoreStep } from '../../../src/effects/restore/step.ts'
import { standIn } from '../../support/effects/stand-in.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

async function read(t: TestContext, content: Uint8Array | string): Promise<string> {
  const path = join(temporaryDirectory(t), 'file')
  writeFileSync(path, content)
  const storage = { restoreFiles: { path: () => path }, actors: { record: () => ({ size_bytes: 1 }) } }
  const ports = standIn<RestorePorts>({ storage, settings: {}, progress: new Map() })
  const input = { id: 'rst-1', datastoreId: 'dst-1', backupId: null }
  const step = standIn<RestoreStep>({ ports, input, signal: new AbortController().signal })
  const pieces: Uint8Array[] = []
  for await (const piece of readSql(step)) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

test('SQL is read plain or gzipped, without a byte order mark', async (t) => {
  for (const content of ['select 1;', '\ufeffselect 1;', gzipSync('select 1;'), gzipSync('\ufeffselect 1;')])
    assert.equal(await read(t, content), 'select 1;')
})

test('a file that is truncated, or contains something else, is refused', async (t) => {
  const packed = gzipSync('select 1;\n'.repeat(1000))
  const refused: [Uint8Array | string, RegExp][] = [
    [packed.subarray(0, -9), /^it is truncated or changed: /],
    [gzipSync('PGDMP and more'), /^a gzip file has to hold plain SQL/],
    [gzipSync('-- MySQL dump 10.13'), /^the file is from MySQL or MariaDB/],
    [`${'select 1;\n'.repeat(100)}\0`, /^it contains a NUL byte/],
  ]
  for (const [content, message] of refused)
    await assert.rejects(read(t, content), { code: 'unsupported_dump', message })
})
