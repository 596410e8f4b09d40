// Problem responses, and which details of a failure they contain for which caller.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '../../../src/errors.ts'
import { toProblem } from '../../../src/http/pipeline/problem.ts'
import type { Logger, LogMethod } from '../../../src/logger.ts'
import { StorageError } from '../../../storage/store/errors.ts'
import { startApi, token } from '../../support/http/http-context.ts'

/** A logger that keeps its lines. */
function keepingLogger() {
  const lines: { level: string; fields: Record<string, unknown> }[] = []
  const at =
    (level: string): LogMethod =>
    (fields: object | string) => {
      lines.push({ level, fields: { ...(fields as object) } })
    }
  const levels = {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    fatal: at('fatal'),
  }
  const logger: Logger = { ...levels, child: () => logger }
  return { lines, logger }
}

test('a failure becomes a problem with its code, status, hint and details', () => {
  const details = [{ path: 'web.A', code: 'reference', message: 'refers to api' }]
  const failure = new Failure('in_use', 'api is referred to', 'use force=true', details)

  assert.deepEqual(toProblem(failure, 'r1'), {
    body: {
      type: 'about:blank',
      title: 'Conflict',
      status: 409,
      code: 'in_use',
      detail: 'api is referred to',
      request_id: 'r1',
      hint: 'use force=true',
      errors: details,
    },
    headers: [],
  })
})

test('an unexpected error reveals no details', () => {
  for (const error of [new Error('s3cret'), 's3cret', new StorageError('row_damaged', 's3cret'), null]) {
    const { body } = toProblem(error, 'r1')
    assert.deepEqual([body.status, body.code], [500, 'internal_error'])
    assert.doesNotMatch(JSON.stringify(body), /s3cret/)
  }
})

test('a store or disk that cannot write is 507, and a full disk’s path is not shown', () => {
  const full = Object.assign(new Error('ENOSPC: /secret/path'), { code: 'ENOSPC' })

  for (const error of [full, new StorageError('commit_failed', 'MDB_MAP_FULL')]) {
    const { body } = toProblem(error, 'r1')
    assert.deepEqual([body.status, body.code], [507, 'insufficient_storage'])
    assert.doesNotMatch(body.detail, /secret|MDB/)
  }
})

test('rate limit codes have Retry-After, 401 has WWW-Authenticate', () => {
  assert.deepEqual(toProblem(new Failure('docker_unavailable', 'x'), 'r').headers, [['Retry-After', '5']])
  assert.deepEqual(toProblem(new Failure('unauthorized', 'x'), 'r').headers, [['WWW-Authenticate', 'Bearer']])
})

test('the request log contains the path without its query', async (t) => {
  const { lines, logger } = keepingLogger()
  const { call } = await startApi(t, { logger })

  await call('GET', `/api/v1/services?access_token=${token}`, { token: null })
  await call('POST', '/api/v1/services?x=s3cret', { body: { name: 'web' } })

  const reported = lines.map(({ level, fields: { ms, request_id, ...rest } }) => ({ level, ...rest }))
  assert.deepEqual(reported, [
    { level: 'debug', method: 'GET', path: '/api/v1/services', status: 200 },
    { level: 'info', method: 'POST', path: '/api/v1/services', status: 400 },
  ])
  assert.equal(typeof lines[0]?.fields.ms, 'number')
})

test('an internal error is in the log under the id in the response', async (t) => {
  const { lines, logger } = keepingLogger()
  const { call, context } = await startApi(t, { logger })
  const broken = new Error('s3cret')
  context.observe = { ...context.observe, diskFreeBytes: () => Promise.reject(broken) }

  const { status, body, headers } = await call('GET', '/api/v1/info')

  assert.deepEqual([status, body.code], [500, 'internal_error'])
  const [first] = lines
  assert.deepEqual(first, { level: 'error', fields: { err: broken, request_id: body.request_id } })
  assert.equal(headers.get('x-request-id'), body.request_id)
})

test('health is plain text, 503 until the server is ready', async (t) => {
  const state = { isReady: false }
  const { call } = await startApi(t, { ready: () => state.isReady })

  const before = await call('GET', '/healthz', { token: null })
  state.isReady = true
  const after = await call('GET', '/healthz', { token: 'wrong' })

  assert.deepEqual([before.status, before.text], [503, 'starting'])
  assert.deepEqual([after.status, after.text], [200, 'ok'])
})

test('info contains the details of Docker, or null while it does not respond', async (t) => {
  const { call, context } = await startApi(t)
  const first = (await call('GET', '/api/v1/info')).body
  context.observe = { ...context.observe, engine: async () => null }
  const second = (await call('GET', '/api/v1/info')).body

  assert.deepEqual([first.docker_version, first.docker_cpus, first.docker_memory_bytes], ['20.10.0', 2, 1024])
  assert.deepEqual(
    [second.docker_version, second.docker_cpus, second.docker_memory_bytes],
    [null, null, null],
  )
})
