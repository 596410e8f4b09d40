// Restores from a file that is sent: what is refused and when, what is kept, and that nothing half-made is.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { head, token } from '../../support/http/http-context.ts'
import { startRestores } from '../../support/http/restore-api.ts'

const mebibyte = 1024 * 1024
const content = (sizeBytes: number) => Buffer.concat([Buffer.from('PGDMP'), randomBytes(sizeBytes - 5)])
const requestHead = (...lines: string[]) => headFor('shop-db', ...lines)

function headFor(name: string, ...lines: string[]): string {
  const path = `/api/v1/datastores/${name}/restores/upload`
  return head(`POST ${path}`, 'Host: localhost', `Authorization: Bearer ${token}`, ...lines)
}

test('an uploaded file is stored unchanged, accessible only to its owner', async (t) => {
  const { upload, files, pathOf } = await startRestores(t)
  const sent = content(3 * mebibyte + 1)

  const { status, body } = await upload('shop-db', sent)

  assert.equal(status, 202)
  assert.deepEqual([body.backup_id, body.size_bytes, body.phase], [null, sent.length, 'checking'])
  assert.deepEqual(files(), [`${body.id}.file`])
  assert.ok(readFileSync(pathOf(body.id)).equals(sent))
  assert.equal(statSync(pathOf(body.id)).mode & 0o777, 0o600)
})

test('a file of another type is rejected by its first bytes, and leaves nothing', async (t) => {
  const { upload, raw, files, list, datastoreOf } = await startRestores(t)
  await datastoreOf('cache', 'redis')
  const taken = 'shop-db takes a custom-format archive (pg_dump -Fc) or plain SQL (pg_dump)'
  const wrong: [text: string, code: string, problem: string][] = [
    ['', 'unknown_format', 'is too short'],
    ['PGDM', 'unknown_format', 'is too short'],
    ['X', 'unknown_format', 'is too short'],
    ['\x1f\x8b', 'unknown_format', 'is too short'],
    ['PGDMX and more', 'unknown_format', 'has an unknown format'],
    ['selection 1;', 'unknown_format', 'has an unknown format'],
    ['PRAGMA foreign_keys=OFF;\n', 'unknown_format', 'has an unknown format'],
    ['-- MySQL dump 10.13  Distrib 8.0.36\n', 'mysql_dump', 'is from MySQL or MariaDB'],
    ['/*M!999999\\- enable the sandbox mode */\n', 'mysql_dump', 'is from MySQL or MariaDB'],
    ['--\n-- PostgreSQL database cluster dump\n--\n', 'cluster_dump', 'contains a whole server (pg_dumpall)'],
    ['REDIS0009', 'unknown_format', 'has an unknown format'],
    ['x'.repeat(5 * mebibyte), 'unknown_format', 'has an unknown format'],
  ]

  for (const [text, code, problem] of wrong) {
    const { status, body } = await upload('shop-db', Buffer.from(text))
    assert.deepEqual(
      [status, body.code, body.detail],
      [400, 'invalid_request', `the file ${problem}: ${taken}`],
    )
    assert.equal(body.errors[0].code, code, text.slice(0, 9))
  }
  for (const text of ['', 'PG', 'PRAGMA a;', 'PGDMQ and more', '\x1f\x8b']) {
    const { status, body } = await upload('cache', Buffer.from(text))
    assert.deepEqual([status, body.code], [400, 'invalid_request'], text)
  }
  const { body } = await upload('cache', Buffer.from('PGDMP and more'))
  assert.equal(body.detail, 'the file has an unknown format: cache takes an RDB file (redis-cli --rdb)')
  const split = await raw(`${requestHead('Transfer-Encoding: chunked')}2\r\nPG\r\n3\r\nXXX\r\n0\r\n\r\n`)
  assert.match(split.text, /^HTTP\/1\.1 400 .*the file has an unknown format/s)
  assert.deepEqual([files(), await list(), await list('cache')], [[], [], []])
})

test('plain SQL is accepted, also gzipped and with a byte order mark', async (t) => {
  const { upload, datastoreOf } = await startRestores(t)
  const contents = ['select 1;', '\ufeff-- a comment\nselect 1;', '\n  SET a = 1;', gzipSync('select 1;')]

  for (const [at, content] of contents.entries()) {
    await datastoreOf(`db-${at}`)
    const { status, body } = await upload(`db-${at}`, Buffer.from(content))
    assert.deepEqual([status, body.phase], [202, 'checking'], String(content))
  }
})

test('all other checks happen before a byte is sent', async (t) => {
  const { raw, context, files, kept, begin, world, datastoreOf } = await startRestores(t)
  const refusalOf = async (name: string, ...lines: string[]) => {
    const { text } = await raw(headFor(name, ...lines))
    return `${text.slice(9, 12)} ${/"code":"(\w+)"/.exec(text)?.[1]}`
  }
  const refusal = (...lines: string[]) => refusalOf('shop-db', ...lines)
  const length = 'Content-Length: 1000'

  assert.equal(await refusal(length, 'Content-Type: text/plain'), '415 unsupported_media_type')
  assert.equal(await refusal(length, 'Content-Type: application/gzip'), '415 unsupported_media_type')
  assert.equal(await refusal(`Content-Length: ${1024 ** 4 + 1}`), '413 payload_too_large')
  context.observe.diskFreeBytes = async () => 1024 * mebibyte + 999
  assert.equal(await refusal(length), '507 insufficient_storage')
  context.observe.diskFreeBytes = async () => 1024 * mebibyte - 1
  assert.equal(await refusal('Transfer-Encoding: chunked'), '507 insufficient_storage')
  context.observe.diskFreeBytes = async () => 2 ** 40
  await begin((await kept('shop-db')).id)
  assert.equal(await refusal(length), '409 conflict')
  world.areServing = false
  await datastoreOf('away-db')
  assert.equal(await refusalOf('away-db', length), '409 conflict')
  assert.equal(await refusalOf('none', length), '404 not_found')
  assert.deepEqual(files(), [])
})
