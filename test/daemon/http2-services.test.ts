// Services that speak HTTP/2 without TLS, deployed by a real daemon behind a real HAProxy.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileScope } from '../support/daemon/scope.ts'
import { createService } from '../support/daemon/suite.ts'
import { baseImages } from '../support/docker/images.ts'
import { startLoad } from '../support/edge/edge-load.ts'
import { openEdgeSite } from '../support/edge/edge-site.ts'

const scope = fileScope()
const site = await openEdgeSite(scope)
const { api } = site.daemon

/** Answers its version, and speaks nothing but HTTP/2. */
async function http2App(version: string): Promise<Record<string, string>> {
  const { node } = await baseImages()
  const program = `
    const server = require('node:http2').createServer((request, response) => {
      request.resume().on('end', () => response.end(request.url === '/healthz' ? 'ok' : '${version}'))
    })
    const sessions = new Set()
    server.on('session', (session) => {
      sessions.add(session.on('error', () => {}).once('close', () => sessions.delete(session)))
    })
    server.listen(process.env.PORT)
    process.on('SIGTERM', () => {
      server.close(() => process.exit())
      for (const session of sessions) session.close()
    })`
  return {
    Dockerfile: `FROM ${node}\nCOPY server.cjs /app/\nCMD ["node", "/app/server.cjs"]\n`,
    'server.cjs': program,
  }
}

test('a service of HTTP/2 is checked, served and replaced over HTTP/2', async (t) => {
  const settings = { protocol: 'h2c', health_check_path: '/healthz' }
  const service = await createService(scope, api, await http2App('one'), settings)
  assert.equal((await site.page(service)).body, 'one')
  const load = startLoad(t, { ...site.placeOf(service), inFlight: 5, pauseMs: 20 })
  await load.round()

  await service.deploy(await http2App('two'))
  await load.round()
  await site.untilDeactivated(service.first.id)
  await load.round()
  await load.stop()

  assert.deepEqual(load.failures, [])
  assert.equal((await site.page(service)).body, 'two')
})
