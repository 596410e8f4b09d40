// `berth edge`: which HAProxy serves, and how its upgrade ends.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Edge } from '../../../src/api/edge.ts'
import { startFakeBerth } from '../../support/cli/berth.ts'

const at = '2026-01-01T00:00:00.000Z'
const edge: Edge = {
  id: 'edge',
  status: 'serving',
  mode: 'container',
  http_port: 80,
  https_port: 443,
  routes: { services: 2, hosts: 3, ready: 4 },
  error: null,
  version: '2.6.12',
  image: 'old',
  available: { version: '3.2.24', image: 'new' },
  error_code: null,
  upgrade_error: null,
  upgraded_at: null,
  serving_since: at,
  next_attempt_at: null,
  created_at: at,
  revision: 1,
  by: null,
}

/** The edge is `after` once an upgrade has begun. */
async function start(t: TestContext, after: Partial<Edge>) {
  let now = edge
  const { berth } = await startFakeBerth(t, ({ method }) => {
    if (method === 'POST') now = { ...edge, ...after }
    return { status: method === 'POST' ? 202 : 200, body: now }
  })
  return berth
}

test('edge shows the running version, the available one, and the next step', async (t) => {
  const berth = await start(t, {})
  const { code, stdout, stderr } = await berth('edge')
  assert.equal(code, 0)
  assert.match(stdout, /HAPROXY +2\.6\.12[\s\S]*AVAILABLE +HAProxy 3\.2\.24 \(new\)/)
  assert.match(stderr, /berth edge upgrade/)
})

test('edge upgrade prints the running version', async (t) => {
  const berth = await start(t, { version: '3.2.24', image: 'new', available: null, upgraded_at: at })
  const { code, stderr } = await berth('edge', 'upgrade')
  assert.equal(code, 0)
  assert.match(stderr, /the edge now runs HAProxy 3\.2\.24 \(new\)/)
})

test('a failed edge upgrade prints the reason, and that the previous edge continues', async (t) => {
  const berth = await start(t, { upgrade_error: 'the new edge does not start: no haproxy' })
  const { code, stderr } = await berth('edge', 'upgrade')
  assert.equal(code, 1)
  assert.match(stderr, /the new edge does not start: no haproxy[\s\S]*previous one still serves/)
})
