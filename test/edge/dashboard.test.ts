// The API behind the edge, at the dashboard's host name.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { request } from 'node:https'
import { type TestContext, test } from 'node:test'
import { toRoutes } from '../../src/effects/edge/service-routes.ts'
import { createHostCheck } from '../../src/http/pipeline/origin.ts'
import type { Logger } from '../../src/logger.ts'
import { serveUpstream, startEdge } from '../support/edge/running-edge.ts'
import { createGitProvider } from '../support/git/git-provider.ts'
import { connectToken, git } from '../support/http/git-connections.ts'
import { startApi, token } from '../support/http/http-context.ts'
import { silentLogger } from '../support/supervisor/supervision.ts'

const host = 'dash.test'
const secret = 'secret'
const surroundings = { dashboardHost: host, certificates: new Map(), challenges: new Map() }

/** An edge whose dashboard is at that port; asks it by https. */
async function startDashboard(t: TestContext, port: number) {
  const edge = await startEdge(t, { dashboard: { address: `127.0.0.1:${port}`, host, secret } })
  await edge.driver.apply(toRoutes([], surroundings))
  return (path: string, headers: Record<string, string> = {}, posted?: Buffer) =>
    new Promise<{ status: number; headers: IncomingHttpHeaders; body: string }>((resolve, reject) => {
      const method = posted === undefined ? 'GET' : 'POST'
      const place = { port: edge.frame.httpsPort, path, method }
      const options = { ...place, agent: false as const, rejectUnauthorized: false }
      const asking = request({ ...options, headers: { host, ...headers } }, (response) => {
        let body = ''
        response.on('data', (chunk) => (body += chunk))
        response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body }))
      })
      asking.once('error', reject).end(posted)
    })
}

const behindEdge = { edgeSecret: secret, allowedHosts: createHostCheck([host, '127.0.0.1']) }

const startReal = async (t: TestContext, logger: Logger = silentLogger) => {
  const api = await startApi(t, { ...behindEdge, logger })
  return startDashboard(t, api.server.port)
}

test('the dashboard is also served at its name with a trailing dot', async (t) => {
  const ask = await startReal(t)
  for (const name of [host, `${host}.`, `${host}.:443`, 'DASH.test.']) {
    assert.equal((await ask('/healthz', { host: name })).status, 200, name)
  }
  assert.notEqual((await ask('/healthz', { host: 'evil.test.' })).status, 200)
})

test('every response of the dashboard has HSTS', async (t) => {
  const ask = await startReal(t)
  for (const path of ['/healthz', '/nothing']) {
    assert.match(String((await ask(path)).headers['strict-transport-security']), /^max-age=\d+/)
  }
})

test('the id of a request is the same in the header, the body and the log of the server', async (t) => {
  const logged: object[] = []
  const logger = { ...silentLogger, info: (fields: object | string) => logged.push(Object(fields)) }
  const ask = await startReal(t, logger)
  const { headers, body } = await ask('/api/v1/nothing', { 'x-request-id': 'mine' })
  const id = JSON.parse(body).request_id
  assert.match(id, /^[0-9a-f-]{36}$/)
  assert.equal(headers['x-request-id'], id)
  assert.deepEqual(
    logged.map((fields) => (fields as { request_id?: string }).request_id),
    [id],
  )
})

test('cookies of other sites do not make the dashboard unreachable', async (t) => {
  const ask = await startReal(t)
  const cookie = Array.from({ length: 4 }, (_, at) => `c${at}=${'x'.repeat(4090)}`).join('; ')
  const headers = { cookie: `${cookie}; svc_session_443=none`, authorization: `Bearer ${token}` }
  const { status, body } = await ask('/api/v1/services', headers)
  assert.deepEqual([status, body], [200, '[]'])
})

test('the dashboard gets all of its own cookies, and no others', async (t) => {
  const port = await serveUpstream(t, ({ headers }, response) => response.end(headers.cookie ?? 'none'))
  const ask = await startDashboard(t, port)
  const seen = async (cookie: string) => {
    const pieces = (await ask('/', { cookie })).body.split(';').map((piece) => piece.trim())
    return pieces.filter((piece) => piece !== '').join('; ')
  }
  assert.equal(await seen('svc_session_443=a'), 'svc_session_443=a')
  assert.equal(await seen('a=1; svc_session_443=a; b=2'), 'svc_session_443=a')
  assert.equal(
    await seen('svc_session_443=bad; a=svc_session_443=c; svc_session_443=good;x'),
    'svc_session_443=bad; svc_session_443=good',
  )
  assert.equal(await seen('a=1; b=2'), '')
  assert.equal((await ask('/')).body, 'none')
})

test('a delivery of a git provider arrives as it was signed, and opens nothing else', async (t) => {
  const [api, provider] = [await startApi(t, behindEdge), await createGitProvider(t)]
  const { body } = await connectToken(api, 'github', provider, provider.createToken('ada'))
  const ask = await startDashboard(t, api.server.port)
  const hook = await api.call('GET', `${git}/connections/${body.id}/hook`)
  const pushed = { ref: 'refs/heads/main', before: '', after: '1'.repeat(40), repository: {} }
  const json = Buffer.from(` ${JSON.stringify({ ...pushed, note: 'é\u2028' })}\r\n`)
  const deliver = (id: string, bytes: Buffer, signed: Buffer) => {
    const signature = createHmac('sha256', hook.body.secret as string)
      .update(signed)
      .digest('hex')
    const headers = {
      'content-type': 'application/json',
      'content-length': String(bytes.length),
      'x-github-event': 'push',
      'x-github-delivery': id,
      'x-hub-signature-256': `sha256=${signature}`,
    }
    return ask(`/api/v1/hooks/github?connection=${body.id}`, headers, bytes)
  }
  const large = Buffer.concat([json, Buffer.alloc(900_000, '\n')])

  for (const bytes of [json, large]) {
    const { status, body: text } = await deliver(`d-${bytes.length}`, bytes, bytes)
    assert.deepEqual([status, JSON.parse(text).result], [200, 'ignored'])
  }
  assert.equal((await deliver('d-3', json, large)).status, 401)
  for (const path of ['/api/v1/services', '/api/v1/hooks/none'])
    assert.equal((await ask(path, {}, json)).status, 401, path)
})
