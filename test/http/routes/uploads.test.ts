// Uploads of source archives: what is refused and when, what is kept, and that nothing half-made ever is.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Service } from '../../../src/api/service.ts'
import { Failure } from '../../../src/errors.ts'
import type { DeployRequest } from '../../../src/http/rules/deploy-request.ts'
import { packArchive } from '../../support/archive/archive.ts'
import type { Body } from '../../support/daemon/api.ts'
import { head, startApi, token } from '../../support/http/http-context.ts'
import { checkAnswer } from '../../support/http/openapi.ts'
import { eventually } from '../../support/supervisor/supervision.ts'

const path = '/api/v1/services/web/deploys/upload'
const gzip = { 'content-type': 'application/gzip' }
const mebibyte = 1024 * 1024

/** The API with a service of neither repository nor image. */
async function start(t: TestContext, settings: object = {}) {
  const api = await startApi(t)
  const { body: service } = await api.call('POST', '/api/v1/services', { body: { name: 'web', ...settings } })
  const requests: DeployRequest[] = []
  const { spawn } = api.context.actors
  api.context.actors.spawn = (kind, id, input, options) => {
    requests.push(input as DeployRequest)
    return spawn(kind, id, input, options)
  }
  const directory = join(api.storage.directory, 'archives')
  const upload = async (body: Buffer | string, headers: object = gzip, query = '') => {
    const all = { authorization: `Bearer ${token}`, ...headers }
    const response = await fetch(`${api.url}${path}${query}`, { method: 'POST', headers: all, body })
    const answer: Body = await response.json()
    checkAnswer('POST', path, response.status, answer)
    return { status: response.status, body: answer }
  }
  return {
    ...api,
    service: service as Service,
    asked: requests,
    upload,
    kept: () => readdirSync(directory),
    contentOf: (id: string) => readFileSync(join(directory, `${id}.tar.gz`)),
    row: () => api.storage.services.get('web')!,
    /** Begins an upload that is never whole. */
    begin: (body: Buffer) => {
      const socket = connect(api.server.port, '127.0.0.1').on('error', () => {})
      socket.write(requestHead(`Content-Length: ${body.length + 1000}`))
      socket.write(body)
      return socket
    },
  }
}

const requestHead = (...lines: string[]) =>
  head(`POST ${path}`, 'Host: localhost', `Authorization: Bearer ${token}`, ...lines)

test('an upload is accessible only to its owner, and its deploy is queued', async (t) => {
  const { upload, kept, contentOf, row, asked: requests, storage, service } = await start(t)
  const archive = await packArchive({
    Dockerfile: 'FROM scratch',
    big: randomBytes(3 * mebibyte).toString('hex'),
  })

  const { status, body } = await upload(archive, gzip, '?clear_cache=true')

  const { id, created_at, ...deploy } = body
  const origin = { revision: 1, by: { kind: 'token', id: 'server', name: 'server token' } }
  const nothing = { started_at: null, finished_at: null, image: null, port: null, error: null, phase: null }
  const unknown = {
    deadline_at: null,
    error_code: null,
    error_details: null,
    health_check: null,
    port_source: null,
    warnings: [],
  }
  assert.equal(status, 202)
  assert.deepEqual(deploy, {
    ...nothing,
    ...unknown,
    ...origin,
    service_id: service.id,
    status: 'queued',
    trigger: 'upload',
    source: { kind: 'archive', repo_url: null, branch: null, commit: null, image: null, deploy_id: null },
    commit_sha: null,
    commit_message: null,
  })
  assert.equal(requests[0]!.clearCache, true)
  assert.ok(contentOf(id).equals(archive))
  assert.equal(row().archive_deploy_id, id)
  assert.deepEqual(kept(), [`${id}.tar.gz`])
  assert.equal(statSync(storage.archives.path(id)).mode & 0o777, 0o600)
})

test('the last upload can be deployed again', async (t) => {
  const { upload, call, setDeploy } = await start(t)
  const first = await upload(await packArchive({ a: '1' }))
  await setDeploy(first.body.id, { status: 'live' })

  const again = await call('POST', '/api/v1/services/web/deploys')

  assert.deepEqual([again.status, again.body.trigger], [202, 'manual'])
  assert.deepEqual((again.body.source as { deploy_id: string }).deploy_id, first.body.id)
})

test('archive types, and no type at all, are accepted; any other is 415', async (t) => {
  const { upload, kept } = await start(t)
  const archive = await packArchive({ a: '1' })
  const statusOf = async (headers: object) => (await upload(archive, headers)).status

  for (const type of ['application/gzip', 'APPLICATION/X-GZIP; q=1', 'application/octet-stream', ''])
    assert.equal(await statusOf({ 'content-type': type }), 202, type)
  assert.equal(await statusOf({}), 202, 'no type')
  const taken = kept().length
  for (const type of [
    'application/x-www-form-urlencoded',
    'application/json',
    'application/x-tar',
    'text/plain',
  ])
    assert.equal(await statusOf({ 'content-type': type }), 415, type)
  assert.equal(await statusOf({ ...gzip, 'content-encoding': 'gzip' }), 415)
  assert.equal(kept().length, taken)
})

test('all other checks happen before a byte is sent', async (t) => {
  const { raw, call, storage, service, context, kept } = await start(t)
  const refusal = async (...lines: string[]) => {
    const { text } = await raw(requestHead(...lines))
    return `${text.slice(9, 12)} ${/"code":"(\w+)"/.exec(text)?.[1]}`
  }
  const length = 'Content-Length: 1000'
  const change = (fields: object) => storage.services.update(service.id, (row) => ({ ...row, ...fields }))

  assert.equal(await refusal(`Content-Length: ${512 * mebibyte + 1}`), '413 payload_too_large')
  assert.equal(await refusal(length, 'Content-Type: text/plain'), '415 unsupported_media_type')
  context.observe.diskFreeBytes = async () => 1024 * mebibyte + 999
  assert.equal(await refusal(length), '507 insufficient_storage')
  context.observe.diskFreeBytes = async () => 1024 * mebibyte - 1
  assert.equal(await refusal('Transfer-Encoding: chunked'), '507 insufficient_storage')
  await call('POST', '/api/v1/services/web/suspend')
  assert.equal(await refusal(length), '409 conflict')
  await change({ suspended: false, repo_url: 'https://git.test/a/b' })
  assert.equal(await refusal(length), '409 conflict')
  await change({ repo_url: null, image: 'nginx:1' })
  assert.equal(await refusal(length), '409 conflict')
  await change({ image: null, deleting: true })
  assert.equal(await refusal(length), '409 conflict')
  await storage.services.remove(service.id)
  assert.equal(await refusal(length), '404 not_found')
  assert.deepEqual(kept(), [])
})

test('an empty body, or one without the gzip signature, is 400 and leaves nothing', async (t) => {
  const { upload, raw, kept, asked: requests } = await start(t)
  const bodies = ['', '\x1f', 'PK', '\x1fx', 'x'.repeat(5 * mebibyte)]

  for (const body of bodies) {
    const { status, body: problem } = await upload(Buffer.from(body, 'latin1'))
    assert.deepEqual([status, problem.code], [400, 'invalid_request'], body.slice(0, 2))
  }
  const chunks = await raw(`${requestHead('Transfer-Encoding: chunked')}0\r\n\r\n`)
  const split = await raw(`${requestHead('Transfer-Encoding: chunked')}1\r\n\x1f\r\n1\r\nx\r\n0\r\n\r\n`)

  assert.match(chunks.text, /^HTTP\/1\.1 400 .*the body is empty/s)
  assert.match(split.text, /^HTTP\/1\.1 400 .*the body is not a gzip archive/s)
  assert.deepEqual([kept(), requests], [[], []])
})

test('a client that disconnects midway leaves nothing', async (t) => {
  const { begin, kept, asked: requests, row } = await start(t)
  const socket = begin(Buffer.concat([Buffer.from([0x1f, 0x8b]), randomBytes(2 * mebibyte)]))
  await eventually('the upload to start', () => kept().length === 1)

  socket.destroy()

  await eventually('the draft is gone', () => kept().length === 0)
  assert.deepEqual([requests, row().archive_deploy_id], [[], null])
})

test('the service is checked again after its archive was sent', async (t) => {
  const { begin, kept, storage, service, asked: requests, row } = await start(t)
  const socket = begin(Buffer.concat([Buffer.from([0x1f, 0x8b]), randomBytes(mebibyte)]))
  await eventually('the upload to start', () => kept().length === 1)
  const answered = once(socket, 'data')

  await storage.services.update(service.id, (row) => ({ ...row, repo_url: 'https://git.test/a/b' }))
  socket.write(Buffer.alloc(1000))

  assert.match(String(await answered), /^HTTP\/1\.1 409 .*"code":"conflict"/s)
  assert.deepEqual([kept(), row().archive_deploy_id, requests.length], [[], null, 1])
  assert.deepEqual(storage.actors.ids('deploy', service.id), [])
})

test('a deploy that cannot be committed removes its archive', async (t) => {
  const { upload, context, kept, row } = await start(t)
  context.actors.spawn = () => Promise.reject(new Failure('insufficient_storage', 'the store is full'))

  const { status } = await upload(await packArchive({ a: '1' }))

  assert.deepEqual([status, kept(), row().archive_deploy_id], [507, [], null])
})

test('uploads with one Idempotency-Key create one deploy, concurrently or in sequence', async (t) => {
  const { upload, kept } = await start(t)
  const archive = await packArchive({ a: '1' })
  const keyed = (key: string, sent = archive) => upload(sent, { ...gzip, 'idempotency-key': key })

  const responses = await Promise.all([keyed('k'), keyed('k'), keyed('k')])
  responses.push(await keyed('k'))

  assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([202]))
  assert.equal(new Set(responses.map(({ body }) => body.id)).size, 1)
  assert.deepEqual(kept(), [`${responses[0]!.body.id}.tar.gz`])
  const other = await keyed('k', Buffer.concat([archive, Buffer.alloc(1)]))
  assert.deepEqual([other.status, other.body.code, kept().length], [409, 'conflict', 1])
})
