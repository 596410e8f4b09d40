// `berth actors`, `berth retry`, `berth discard`: what is parked, and what a person does about it.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Actor } from '../../../src/api/actor.ts'
import { startFakeBerth } from '../../support/cli/berth.ts'
import { type FakeResponse, problem } from '../../support/cli/fake-server.ts'

const since = new Date(Date.now() - 2 * 3600_000 - 90_000).toISOString()
const words = { on_retry: 'it goes on', on_discard: 'nothing supervises it' }
const known = { service_name: null, revision: 3, restarts: 0, version: 1, current_version: 1, next_at: null }
const edge: Actor = {
  ...known,
  id: 'edge',
  kind: 'edge',
  service_id: null,
  status: 'failed',
  state: 'serving',
  since,
  accepts: [],
  parked: { since, code: 'failed_repeatedly', reason: 'a bug', ...words },
}
const deploy: Actor = {
  ...known,
  id: 'dep-1',
  service_name: 'shop',
  kind: 'deploy',
  service_id: 'svc-1',
  status: 'live',
  state: 'live',
  since,
  accepts: ['instances.reported'],
  parked: null,
}
const left_behind = [{ type: 'container', name: 'berth-edge' }]

async function start(t: TestContext, acted: FakeResponse = { body: { ...edge, left_behind } }) {
  const { berth, server } = await startFakeBerth(t, ({ method, path }) => {
    if (method === 'GET') return { body: path.includes('parked') ? [edge] : [edge, deploy] }
    return acted
  })
  return { berth, asked: server.requests }
}

test('actors lists parked actors first, with time and reason', async (t) => {
  const { berth } = await start(t)
  const { code, stdout } = await berth('actors')
  assert.equal(code, 0)
  assert.deepEqual(stdout.split('\n'), [
    'ID     KIND    OF    STATUS  SINCE      REASON',
    'edge   edge          parked  2h 1m ago  a bug',
    'dep-1  deploy  shop  live    2h 1m ago',
    '',
  ])
})

test('retry confirms the restart; an actor that is not parked is refused with the reason', async (t) => {
  const { berth, asked } = await start(t, { status: 202, body: { ...edge, status: 'starting' } })
  const { code, stderr } = await berth('retry', 'edge')
  assert.deepEqual([code, asked.at(-1)?.path], [0, '/api/v1/actors/edge/retry'])
  assert.match(stderr, /edge is resumed: it is starting/)
  const other = await start(t, problem(409, 'not_parked', 'edge is not parked'))
  const refused = await other.berth('retry', 'edge')
  assert.notEqual(refused.code, 0)
  assert.match(refused.stderr, /edge is not parked/)
})

test('discard asks for confirmation first, and lists what is left behind', async (t) => {
  const { berth, asked } = await start(t)
  const unasked = await berth('discard', 'edge')
  assert.notEqual(unasked.code, 0)
  assert.match(unasked.stderr, /Discard edge\? Then nothing supervises it\.[\s\S]*--yes/)
  assert.ok(asked.every(({ method }) => method === 'GET'))

  const { code, stderr } = await berth('discard', 'edge', '--yes')

  assert.equal(code, 0)
  assert.match(stderr, /edge is discarded[\s\S]*container berth-edge/)
})
