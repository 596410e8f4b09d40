// The inspector of a real daemon: viewers follow a real deploy, and no secret is on the wire.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { createWebSocketReceiver, type StatelyInspectionEvent } from '@statelyai/inspect'
import type { HistoryEntry } from '../../src/api/actor.ts'
import type { InspectMessage } from '../../src/api/inspect.ts'
import { startDaemon } from '../support/daemon/daemon.ts'
import { pageApp } from '../support/daemon/service.ts'
import { createService } from '../support/daemon/suite.ts'
import { signUp } from '../support/http/session.ts'
import { formsOf } from '../support/storage/canary.ts'
import { connectViewer } from '../support/supervisor/inspector.ts'
import { eventually } from '../support/supervisor/supervision.ts'

const canary = 'canary-5d41402abc4b2a76'

test("the package's receiver follows a deploy to live, and finds no secret", async (t) => {
  const daemon = await startDaemon(t, { args: ['--inspect=127.0.0.1:0'] })
  const session = await signUp(daemon.api.url, daemon.dataDir)
  const port = daemon.log.map((line) => /"port":(\d+).*"the inspector listens"/.exec(line)?.[1]).find(Boolean)
  const serverToken = readFileSync(join(daemon.dataDir, 'api_token'), 'utf8').trim()
  const url = `ws://127.0.0.1:${port}/?access_token=${serverToken}`
  const received: StatelyInspectionEvent[] = []
  createWebSocketReceiver({ server: url }).subscribe((message) => received.push(message))
  const viewer = await connectViewer(t, url)
  const page = await connectViewer(t, `${daemon.api.url.replace('http', 'ws')}/api/v1/inspect`, session)

  const service = await createService(t, daemon.api, await pageApp(canary, 'RUN echo $SECRET'), {
    env: [{ key: 'SECRET', value: canary }],
  })
  const id = service.first.id
  const isOf = (message: StatelyInspectionEvent) => message.sessionId === id
  const isLive = (message: StatelyInspectionEvent) =>
    isOf(message) &&
    message.type === '@xstate.snapshot' &&
    'value' in message.snapshot &&
    message.snapshot.value === 'live'
  const moves = () =>
    (page.received as unknown as InspectMessage[])
      .filter(({ type, actor_id }) => type === 'transition' && actor_id === id)
      .map(({ event, to }) => [event, to])
  await eventually('live', () => [received, viewer.received].every((all) => all.some(isLive)))
  await eventually('live on the page', () => moves().some(([, to]) => to === 'live'))

  const actor = received.find((message) => isOf(message) && message.type === '@xstate.actor')
  assert.match(JSON.stringify(actor), /fetchSource/)
  const seen = moves()
  const history: HistoryEntry[] = await daemon.api.get(`/deploys/${id}/history`)
  assert.deepEqual(
    seen,
    history.slice(0, seen.length).map(({ event, state }) => [event, state]),
  )
  assert.match(page.wire(), /"effect":\{"name":"buildImage","outcome":"done","code":null\}/)

  const wire = viewer.wire() + page.wire()
  assert.ok(wire.length > 5000)
  for (const secret of [canary, serverToken, session.cookie.split('=')[1]!, service.repository.directory])
    for (const form of formsOf(secret)) assert.ok(!wire.includes(form), `the wire contains ${secret}`)
  assert.doesNotMatch(wire, /"(context|output|input)"/)
})

test('a daemon whose --inspect address is taken starts without the inspector, and says so', async (t) => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.after(() => other.close())
  const { port } = other.address() as AddressInfo
  const daemon = await startDaemon(t, { args: [`--inspect=127.0.0.1:${port}`] })

  const warning = daemon.log.find((line) => line.includes('starts without the inspector'))
  assert.match(warning ?? '', new RegExp(`"level":"warn".*cannot listen on 127.0.0.1:${port}.*EADDRINUSE`))
  assert.equal(await daemon.stop(), 0)
})
