// Requests at the command line: one line each, safe against control characters, and the numbers of a summary.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { AccessLog } from '../../../src/effects/logs/access-log.ts'
import { TrafficNumbers } from '../../../src/effects/traffic/traffic-numbers.ts'
import { runBerth, startBerth } from '../../support/cli/berth.ts'
import { openFakeTerminal } from '../../support/cli/fake-terminal.ts'
import { accessLine } from '../../support/http/access-line.ts'
import { startApi, token } from '../../support/http/http-context.ts'

const introducer = '\u001b'

async function startService(t: TestContext) {
  const traffic = new TrafficNumbers()
  const api = await startApi(t, { traffic })
  const { body } = await api.call('POST', '/api/v1/services', { body: { name: 'web', type: 'web_service' } })
  const accessLog = new AccessLog({ storage: api.storage, traffic })
  const ask = (path: string, status = 200, more = {}) =>
    accessLog.recordAccess(accessLine({ serviceId: String(body.id), path, status, ...more }))
  const written = () => api.storage.accessLogs.flush()
  return { ask, written, options: { env: { BERTH_SERVER: api.url, BERTH_TOKEN: token } } }
}

test('requests are printed one per line, and followed live', async (t) => {
  const { ask, options } = await startService(t)
  ask('/one')
  const following = startBerth(t, ['logs', 'web', '--access', '-f'], options)
  await following.shows('/one')

  ask('/two', 404)
  await following.shows('/two')

  assert.deepEqual(following.stdout.split('\n'), [
    'GET /one 200 12ms 1.2KiB 203.0.113.9 "curl/8"',
    'GET /two 404 12ms 1.2KiB 203.0.113.9 "curl/8"',
    '',
  ])
})

test('at a terminal the colour shows the status, and clients cannot inject control characters', async (t) => {
  const { ask, written, options } = await startService(t)
  for (const [path, status] of [
    ['/a', 200],
    ['/b', 302],
    ['/c', 404],
    ['/d', 503],
  ] as const)
    ask(path, status)
  ask(`/${introducer}[31mred${introducer}[2J\u009b5A`, 200, { userAgent: `${introducer}]0;title\u0007` })
  await written()

  const terminal = openFakeTerminal(t, ['logs', 'web', '--access'], options)
  assert.equal(await terminal.ended(), 0)

  const colours = [...terminal.written.matchAll(/\[(\d+)mGET \/(\w?)/g)].map(([, colour, path]) => [
    colour,
    path,
  ])
  assert.deepEqual(colours, [
    ['32', 'a'],
    ['36', 'b'],
    ['33', 'c'],
    ['31', 'd'],
    ['32', ''],
  ])
  for (const order of [`${introducer}[31mred`, `${introducer}[2J`, '\u009b', `${introducer}]0;`]) {
    assert.ok(!terminal.written.includes(order), JSON.stringify(order))
  }
})

test('a service without requests prints a note, and --access excludes a deploy', async (t) => {
  const { options } = await startService(t)

  const none = await runBerth(t, ['logs', 'web', '--access'], options)
  const wrong = await runBerth(t, ['logs', '--deploy', 'dep-1', '--access'], options)

  assert.deepEqual([none.code, none.stdout, none.stderr], [0, '', 'web has had no requests\n'])
  assert.deepEqual([wrong.code, /--access is for the logs of a service/.test(wrong.stderr)], [2, true])
})

test('status shows the traffic of the last five minutes', async (t) => {
  const { ask, options } = await startService(t)
  const before = await runBerth(t, ['status', 'web'], options)
  for (let count = 0; count < 1200; count++)
    ask('/', count < 3 ? 500 : 200, { durationMs: count % 2 ? 20 : 4 })

  const { stdout } = await runBerth(t, ['status', 'web'], options)

  assert.match(before.stdout, /^ {2}0 requests in 5 min$/m)
  assert.match(stdout, /^ {2}1,200 requests in 5 min, 3 errors, p50 4 ms, p95 20 ms, p99 20 ms$/m)
})
