// Restores over HTTP: one at a time, cancellation, and repeated requests.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { startRestores } from '../../support/http/backup-api.ts'
import { head, token } from '../../support/http/http-context.ts'
import { eventually } from '../../support/supervisor/supervision.ts'

const file = 'PGDMP and more'

test('a restore from a backup runs, and names its source', async (t) => {
  const { kept, begin, finish, restore, datastoreId } = await startRestores(t)
  const { id: backupId } = await kept('shop-db', 'PGDMP and more')

  const { status, body } = await begin(backupId)

  const { id, created_at: _, ...rest } = body
  assert.equal(status, 202)
  assert.match(String(id), /^rst-/)
  const view = {
    datastore_id: datastoreId,
    datastore: 'shop-db',
    kind: 'postgres',
    service_id: null,
    service: null,
    disk: null,
    new_disk: null,
    backup_id: backupId,
    error: null,
    error_code: null,
    error_details: null,
    size_bytes: 14,
    done_bytes: null,
    total_bytes: null,
    revision: 1,
    by: { kind: 'token', id: 'server', name: 'server token' },
  }
  assert.deepEqual(rest, { ...view, status: 'running', phase: 'checking', finished_at: null })
  await finish(String(id))
  const { status: ended, phase, finished_at } = await restore(String(id))
  assert.deepEqual([ended, phase, finished_at === null], ['done', null, false])
})

test('an invalid source or target is rejected before anything starts', async (t) => {
  const api = await startRestores(t)
  const { kept, begun, fails, begin, world, datastoreOf, list, call } = api
  const good = await kept('shop-db')
  const running = await begun('shop-db')
  const failed = await begun('shop-db')
  await fails(failed.id, 'no space left')
  await datastoreOf('cache', 'redis')
  world.areServing = false
  await datastoreOf('away-db')
  const refusal = async (backupId: string, name?: string) => {
    const { status, body } = await begin(backupId, name)
    return [status, body.code, body.detail]
  }

  assert.deepEqual(await refusal(good.id, 'cache'), [
    400,
    'invalid_request',
    'the backup is of postgres, cache is redis',
  ])
  assert.deepEqual(await refusal(running.id), [409, 'conflict', 'the backup is running, not good'])
  assert.deepEqual(await refusal(failed.id), [409, 'conflict', 'the backup is failed, not good'])
  assert.deepEqual(await refusal('bak-none'), [404, 'not_found', 'there is no such backup'])
  assert.deepEqual(await refusal(good.id, 'none'), [404, 'not_found', "there is no datastore 'none'"])
  const away = [409, 'conflict', 'away-db is failed: no space left']
  assert.deepEqual(await refusal(good.id, 'away-db'), away)
  assert.equal((await call('POST', '/datastores/shop-db/restores', {})).status, 400)
  const [one, two, three] = [await list(), await list('cache'), await list('away-db')]
  assert.deepEqual([one, two, three], [[], [], []])
})

test('of two concurrent restores of any kind one starts', async (t) => {
  const { kept, begin, upload, finish, files, list, datastoreOf } = await startRestores(t)
  const { id: backupId } = await kept('shop-db')
  await datastoreOf('other-db')

  const responses = await Promise.all([begin(backupId), begin(backupId), upload('shop-db', file)])

  const statuses = responses.map(({ status }) => status).sort()
  assert.deepEqual(statuses, [202, 409, 409])
  const won = responses.find(({ status }) => status === 202)!
  for (const { status, body } of responses)
    if (status === 409) assert.equal(body.detail, `${won.body.id} is already restoring it`)
  assert.deepEqual(
    (await list()).map(({ id }) => id),
    [won.body.id],
  )
  assert.equal(files().length, won.body.backup_id === null ? 1 : 0)
  assert.equal((await begin(backupId, 'other-db')).status, 202, 'of another datastore')
  await finish(String(won.body.id))
  assert.equal((await begin(backupId)).status, 202, 'after the first')
})

test('a restore can be canceled until it switches', async (t) => {
  const { kept, begin, call, refused, goOn, reached, restore, storage } = await startRestores(t)
  const { id: backupId } = await kept('shop-db')
  const cancel = async (id: string) => {
    const { status, body } = await call('POST', `/restores/${id}/cancel`)
    return [status, body.code ?? body.status, body.detail ?? body.error]
  }

  for (const phases of [0, 1]) {
    const id = String((await begin(backupId)).body.id)
    for (let phase = 0; phase < phases; phase++) await goOn(id)
    await reached(id, phases === 0 ? 'checking' : 'loading')
    assert.deepEqual(await cancel(id), [202, 'undoing', 'canceled by the server token'])
    assert.equal((await call('POST', `/restores/${id}/cancel`)).body.detail, 'the restore is undoing')
    await goOn(id)
    await eventually('it is undone', () => storage.actors.record(id)?.status === 'canceled')
    assert.equal((await restore(id)).error, 'canceled by the server token')
    assert.deepEqual(await refused('POST', `/restores/${id}/cancel`), [409, 'not_cancelable'])
  }
  const id = String((await begin(backupId)).body.id)
  await goOn(id)
  await goOn(id)
  await reached(id, 'switching')
  assert.deepEqual(await cancel(id), [409, 'not_cancelable', 'the restore is switching'])
  await goOn(id)
  await goOn(id)
  await eventually('it is done', () => storage.actors.record(id)?.status === 'done')
  assert.equal((await call('POST', `/restores/${id}/cancel`)).body.detail, 'the restore is done')
  assert.deepEqual(await refused('POST', '/restores/rst-none/cancel'), [404, 'not_found'])
})

test('the restores of a datastore are listed newest first, with their transitions', async (t) => {
  const { kept, begin, finish, upload, list, call, datastoreOf } = await startRestores(t)
  await datastoreOf('other-db')
  const { id: backupId } = await kept('shop-db')
  const first = String((await begin(backupId)).body.id)
  await finish(first)
  await begin(backupId, 'other-db')
  const { body: second } = await upload('shop-db', file)

  const views = (await list()).map(({ id, status, backup_id }) => [id, status, backup_id])
  assert.deepEqual(views, [
    [second.id, 'running', null],
    [first, 'done', backupId],
  ])
  const { body } = await call('GET', `/restores/${first}/history`)
  assert.deepEqual(
    (body as unknown as { phase: string | null; status: string }[]).map(
      (entry) => entry.phase ?? entry.status,
    ),
    ['checking', 'loading', 'switching', 'running', 'done'],
  )
})

test('a repetition with the same key returns the same restore in its current state', async (t) => {
  const { kept, begin, upload, finish, reached, goOn, list, files, storage } = await startRestores(t)
  const { id: backupId } = await kept('shop-db')
  const ask = (key: string) => begin(backupId, 'shop-db', { 'idempotency-key': key })
  const send = () => upload('shop-db', file, { 'idempotency-key': 'u' })

  const { body: first } = await ask('k')
  const id = String(first.id)
  await goOn(id)
  await reached(id, 'loading')
  const second = await ask('k')
  assert.deepEqual([second.status, second.body.id, second.body.phase], [202, id, 'loading'])
  assert.equal((await ask('other')).status, 409)
  for (let phase = 0; phase < 3; phase++) await goOn(id)
  await eventually('it is done', () => storage.actors.record(id)?.status === 'done')

  const uploads = await Promise.all([send(), send()])
  const [uploadId, again] = uploads.map(({ body }) => body.id)
  assert.equal(again, uploadId)
  assert.deepEqual(files(), [`${uploadId}.file`])
  await finish(uploadId)
  assert.deepEqual([(await send()).body.status, (await list()).length], ['done', 2])
})

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

test('the type, the size and the datastore are checked before a byte is sent', async (t) => {
  const { raw, files, kept, begin, world, datastoreOf } = await startRestores(t)
  const refusalOf = async (name: string, ...lines: string[]) => {
    const { text } = await raw(headFor(name, ...(lines.length > 0 ? lines : ['Content-Length: 1000'])))
    return `${text.slice(9, 12)} ${/"code":"(\w+)"/.exec(text)?.[1]}`
  }

  for (const type of ['text/plain', 'application/gzip']) {
    const head = ['Content-Length: 1000', `Content-Type: ${type}`]
    assert.equal(await refusalOf('shop-db', ...head), '415 unsupported_media_type')
  }
  assert.equal(await refusalOf('shop-db', `Content-Length: ${1024 ** 4 + 1}`), '413 payload_too_large')

  await begin((await kept('shop-db')).id)
  assert.equal(await refusalOf('shop-db'), '409 conflict')
  world.areServing = false
  await datastoreOf('away-db')
  assert.equal(await refusalOf('away-db'), '409 conflict')
  assert.equal(await refusalOf('none'), '404 not_found')
  assert.deepEqual(files(), [])
})
