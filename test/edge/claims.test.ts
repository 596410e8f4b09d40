// Headers by which clients pose as others, and that many applications believe.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { routesTo, upstream } from '../support/edge/edge-routes.ts'
import { serveUpstream, startEdge } from '../support/edge/running-edge.ts'

const address = '203.0.113.9'
const claims = {
  'client-ip': address,
  'x-client-ip': address,
  'true-client-ip': address,
  'x-cluster-client-ip': address,
  'fastly-client-ip': address,
  'cf-connecting-ip': address,
  'x-original-url': '/admin',
  'x-original-host': 'evil.test',
  'x-rewrite-url': '/admin',
  'x-original-forwarded-for': address,
}

/** Which of the claims reach the application. */
async function passed(t: TestContext, trustedProxies: string[]) {
  const edge = await startEdge(t, { trustedProxies })
  const port = await serveUpstream(t, ({ headers }, response) => response.end(JSON.stringify(headers)))
  await edge.driver.apply(routesTo({ 'a.test': [upstream(port)] }))
  const headers = JSON.parse((await edge.ask('a.test', '/', { headers: claims })).body)
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name in claims))
}

test('forwarding headers of a client are dropped', async (t) => {
  assert.deepEqual(await passed(t, []), {})
})

test('the same holds for a client behind untrusted proxies', async (t) => {
  assert.deepEqual(await passed(t, ['10.0.0.0/8']), {})
})

test('those of a trusted proxy are passed on', async (t) => {
  assert.deepEqual(await passed(t, ['127.0.0.0/8']), claims)
})
