// Thousands of connections that do little: other clients are served as before. Latencies are compared with
// those of an edge without them, request by request: what else the machine does slows down both.
import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { type TestContext, test } from 'node:test'
import { percentile } from '../bench/figure.ts'
import { routesTo, upstream } from '../support/edge/edge-routes.ts'
import { type Client, openClient } from '../support/edge/loopback-clients.ts'
import { type RunningEdge, serveUpstream, startEdge } from '../support/edge/running-edge.ts'
import { eventually } from '../support/supervisor/supervision.ts'

const limits = { connections: 13_500, connectionsPerAddress: 1000, requestsPerAddress: 100_000 }
const rounds = 5
const requests = 1500
const large = Buffer.alloc(4 * 1024 * 1024)

interface Crowd {
  /** From how many addresses, and how many connections of each. */
  addresses: number
  each: number
  text: string
  /** They never read the responses. */
  isDeaf?: true
}

const crowds: Record<string, Crowd> = {
  '10,000 idle connections': {
    addresses: 10,
    each: 1000,
    text: 'GET / HTTP/1.1\r\nHost: a.test\r\n\r\n',
  },
  'slow heads': { addresses: 4, each: 1000, text: 'POST / HTTP/1.1\r\nHost: a.test\r\nX-Slow: ' },
  'slow readers': {
    addresses: 4,
    each: 50,
    text: 'GET /large HTTP/1.1\r\nHost: a.test\r\n\r\n',
    isDeaf: true,
  },
}

/** Resolves when all are connected. */
async function gather(t: TestContext, edge: RunningEdge, crowd: Crowd): Promise<void> {
  const { addresses, each, text } = crowd
  const clients: Client[] = []
  for (let at = 0; at < addresses; at++) {
    for (let count = 0; count < each; count++) {
      const client = openClient(t, edge.frame.httpPort, `127.0.0.${at + 10}`, text)
      if (crowd.isDeaf) client.pause()
      clients.push(client)
      if (clients.length % 500 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
  }
  await eventually('all connections', async () => (await countOpen(edge)) >= addresses * each)
}

/** Connections of the frontend. */
async function countOpen(edge: RunningEdge): Promise<number> {
  const [, row = ''] = (await edge.admin.ask('show stat http 1 -1')).split('\n')
  return Number(row.split(',')[4])
}

type Ask = () => Promise<number>

/** Asks on a kept connection, and answers how long it took. */
function asking(t: TestContext, edge: RunningEdge): Ask {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const options = { port: edge.frame.httpPort, agent, headers: { host: 'a.test' } }
  return async () => {
    const startedAt = performance.now()
    const body = await new Promise<string>((resolve, reject) => {
      const requested = request(options, (response) => {
        let text = ''
        response.on('data', (chunk) => (text += chunk)).on('end', () => resolve(text))
      })
      requested.once('error', reject).end()
    })
    assert.equal(body, 'served')
    return performance.now() - startedAt
  }
}

async function start(t: TestContext): Promise<RunningEdge> {
  const edge = await startEdge(t, { limits })
  const port = await serveUpstream(t, (requested, response) => {
    requested.resume().once('end', () => response.end(requested.url === '/large' ? large : 'served'))
  })
  await edge.driver.apply(routesTo({ 'a.test': [upstream(port)] }))
  return edge
}

for (const [name, crowd] of Object.entries(crowds)) {
  test(`${name} do not slow down other clients`, async (t: TestContext) => {
    const [edge, empty] = [await start(t), await start(t)]
    await gather(t, edge, crowd)
    const [ask, askEmpty] = [asking(t, edge), asking(t, empty)]
    for (let warm = 0; warm < 200; warm++) await Promise.all([await ask(), await askEmpty()])
    // Other load on the host may slow down only one edge, but not in every round.
    let ratio = Number.POSITIVE_INFINITY
    for (let round = 0; round < rounds && ratio >= 2; round++) {
      ratio = Math.min(ratio, await compareTails(ask, askEmpty))
    }

    t.diagnostic(`p99 of other clients: ${ratio.toFixed(2)} of normal`)
    assert.ok(ratio < 2, `p99 of other clients: ${ratio.toFixed(2)} of normal`)
  })
}

/** The ratio of the 99th percentiles of both edges, measured in alternation. */
async function compareTails(ask: Ask, requestOther: Ask): Promise<number> {
  const [times, otherTimes]: [number[], number[]] = [[], []]
  while (times.length < requests) {
    times.push(await ask())
    otherTimes.push(await requestOther())
  }
  return percentile(times, 99) / percentile(otherTimes, 99)
}
