// The public ports belong to one edge: another server on the same host cannot take a share of its requests.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startDaemon } from '../support/daemon/daemon.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { finishedDeploy, until } from '../support/daemon/service.ts'
import { createService } from '../support/daemon/suite.ts'
import { edgeArgs, endHostEdge, portOf } from '../support/edge/edge.ts'
import { edgeApp } from '../support/edge/edge-app.ts'
import { startLoad } from '../support/edge/edge-load.ts'
import { openEdgeSite } from '../support/edge/edge-site.ts'
import { followEvents } from '../support/edge/edge-streams.ts'
import { startForeignHaproxy } from '../support/edge/foreign-haproxy.ts'
import { run } from '../support/system/command.ts'
import { long } from '../support/system/drill-size.ts'
import { whyNoFirewall } from '../support/system/firewall.ts'

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
  const testKind = kind === 'host' ? test : long
  testKind(
    `a second server with the same ports gets no request, and reports why (${kind})`,
    async (t: TestContext) => {
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
    },
  )
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

long('an edge that dies while an earlier one drains serves every request again', async (t) => {
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

const redirection = `berth-test-${site.port}`

/** As a host port of Kubernetes does. */
async function redirectPort(to: number): Promise<void> {
  const rule = `tcp dport ${site.port} redirect to :${to}`
  await run('nft', [
    `table ip ${redirection} { chain out { type nat hook output priority -100; ${rule}; }; }`,
  ])
}

const removeRedirection = () => run('nft', ['delete', 'table', 'ip', redirection]).catch(() => undefined)

long(
  'an edge whose port is redirected to another program reports it, and so does a deploy',
  {
    skip: (await whyNoFirewall()) ?? false,
  },
  async (t) => {
    const port = portOf(await edgeArgs('host'), '--http-port')
    await startForeignHaproxy(t, port)
    t.after(removeRedirection)
    await redirectPort(port)
    await site.daemon.stop()
    await site.daemon.start()

    const edge = await until('the problem', async () => {
      const found = await site.daemon.api.get('/edge')
      return found.error_code === 'port_shared' && found
    })

    assert.equal(edge.error, `another program responds on port ${site.port}`)
    assert.equal(edge.status, 'serving')
    const { id } = await site.daemon.api.post(`/services/${service.name}/deploys`)
    assert.equal((await finishedDeploy(site.daemon.api, id)).status, 'live')
    let text = ''
    for await (const { data } of site.daemon.api.events(`/deploys/${id}/logs?follow=true`)) text += data
    assert.match(text, /may not reach it: another program responds on port/)
    assert.doesNotMatch(text, /a request through the edge reached the instance/)

    await removeRedirection()
    await until('the end of the problem', async () => {
      const { error, error_code } = await site.daemon.api.get('/edge')
      return error === null && error_code === null
    })
    const logged = site.daemon.log.filter((line) => line.includes('"code":"port_shared"'))
    assert.equal(logged.length, 1)
  },
)
