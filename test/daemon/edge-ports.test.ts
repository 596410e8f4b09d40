// The public ports belong to one edge: another server on the same host cannot take a share of its requests.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startDaemon } from '../support/daemon/daemon.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { finishedDeploy, until } from '../support/daemon/service.ts'
import { createService } from '../support/daemon/suite.ts'
import { endHostEdge, portOf } from '../support/edge/edge.ts'
import { edgeApp } from '../support/edge/edge-app.ts'
import { findEdge } from '../support/edge/edge-chaos.ts'
import { startLoad } from '../support/edge/edge-load.ts'
import { openEdgeSite } from '../support/edge/edge-site.ts'
import { followEvents } from '../support/edge/edge-streams.ts'
import { startForeignHaproxy } from '../support/edge/foreign-haproxy.ts'

const scope = fileScope()
const site = await openEdgeSite(scope, 'host')
const service = await createService(scope, site.daemon.api, await edgeApp('one'), { drain_seconds: 2 })
await site.untilAnswers(service, 'one')

/** Statuses of requests on separate connections. */
async function statuses(): Promise<Set<number>> {
  const responses = await Promise.all(Array.from({ length: 20 }, () => site.page(service)))
  return new Set(responses.map(({ status }) => status))
}

for (const kind of ['host', 'container'] as const) {
  test(`a second server with the same ports gets no request, and reports why (${kind})`, async (t) => {
    const ports = ['--http-port', '--https-port'] as const
    const args = ports.flatMap((name) => [name, String(portOf(site.args, name))])
    const second = await startDaemon(t, { args: ['--edge', kind, ...args] })
    t.after(() => endHostEdge(second.dataDir))

    const edge = await until('a reason', async () => {
      const found = await second.api.get('/edge')
      return found.error !== null && found
    })

    assert.match(edge.error, new RegExp(`port ${site.port} is in use by another program`))
    assert.equal(edge.serving_since, null)
    assert.deepEqual(await statuses(), new Set([200]))
    const first = await site.daemon.api.get('/edge')
    assert.deepEqual([first.status, first.error], ['serving', null])
  })
}

/** Replaces the edge while the old one still has a connection. */
async function upgrade(t: TestContext): Promise<void> {
  const events = await followEvents(t, site.placeOf(service))
  const before = await site.daemon.api.get('/edge')
  await site.daemon.api.post('/edge/upgrade', { force: true })
  await until('the upgrade to end', async () => {
    const edge = await site.daemon.api.get('/edge')
    return edge.status === 'serving' && edge.upgraded_at !== before.upgraded_at
  })
  assert.equal(events.ending, null)
}

test('an edge that dies while an earlier one drains serves every request again', async (t) => {
  await upgrade(t)
  const before = await site.daemon.api.get('/edge')
  endHostEdge(site.daemon.dataDir, 2)

  await until('the edge to serve again', async () => {
    const edge = await site.daemon.api.get('/edge')
    return edge.status === 'serving' && edge.serving_since !== before.serving_since
  })

  const load = startLoad(t, { ...site.placeOf(service), inFlight: 10 })
  await load.round()
  await load.stop()
  assert.deepEqual(load.failures, [])
  assert.deepEqual(await statuses(), new Set([200]))
})

/** Starts the edge as earlier versions did, with SO_REUSEPORT. */
async function startOlderEdge(): Promise<void> {
  const directory = join(site.daemon.dataDir, 'edge')
  const configuration = join(directory, 'haproxy.cfg')
  endHostEdge(site.daemon.dataDir)
  await until('the end of HAProxy', async () => findEdge(site.daemon.dataDir) === null)
  rmSync(join(directory, 'run'), { recursive: true })
  mkdirSync(join(directory, 'run'), { mode: 0o700 })
  writeFileSync(configuration, readFileSync(configuration, 'utf8').replace(/^ noreuseport$/m, ''))
  const sockets = ['-S', `${join(directory, 'run', 'master.sock')},mode,600`]
  const pidFile = ['-p', join(directory, 'run', 'haproxy.pid')]
  const child = spawn('haproxy', ['-W', ...sockets, ...pidFile, '-f', configuration], {
    detached: true,
    stdio: 'ignore',
  })
  child.unref()
  await site.untilAnswers(service, 'one')
}

test('an edge that shares its port with another program reports it, and so does a deploy', async (t) => {
  await site.daemon.stop()
  await startOlderEdge()
  const foreign = await until('another HAProxy that shares the port', async () => {
    const started = await startForeignHaproxy(t, site.port)
    return started.isRunning() && started
  })
  await site.daemon.start()

  const edge = await until('the problem', async () => {
    const found = await site.daemon.api.get('/edge')
    return found.error_code === 'port_shared' && found
  })

  assert.match(edge.error, new RegExp(`another program responds on port ${site.port} at 127.0.0.1`))
  assert.equal(edge.status, 'serving')
  await until('the problem in the log', async () =>
    site.daemon.log.some((line) => line.includes('"code":"port_shared"')),
  )
  const { id } = await site.daemon.api.post(`/services/${service.name}/deploys`)
  assert.equal((await finishedDeploy(site.daemon.api, id)).status, 'live')
  let text = ''
  for await (const { data } of site.daemon.api.events(`/deploys/${id}/logs?follow=true`)) text += data
  assert.match(text, /may not reach it: another program responds on port/)
  assert.doesNotMatch(text, /a request through the edge reached the instance/)

  await foreign.stop()
  await until('the end of the problem', async () => {
    const { error, error_code } = await site.daemon.api.get('/edge')
    return error === null && error_code === null
  })
})
