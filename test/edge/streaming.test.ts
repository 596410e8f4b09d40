// Bodies that are sent piece by piece: how much later each piece arrives through the edge than directly.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { request as requestTls } from 'node:https'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { median } from '../bench/figure.ts'
import { routesTo, upstream } from '../support/edge/edge-routes.ts'
import { serveUpstream, startEdge } from '../support/edge/running-edge.ts'

const pieces = 9
/** Longer than the 200 ms for which the kernel collects what belongs together. */
const pauseMs = 250
const goalMs = 10
const mostMs = 50

/** An exchange whose response has begun. */
interface Exchange {
  request: Writable
  response: Readable
}
type Open = (path: string) => Promise<Exchange>

/** Each piece is the time of its sending. */
async function sendPieces(to: Writable): Promise<void> {
  for (let piece = 0; piece < pieces; piece++) {
    to.write(`data: ${performance.now()}\n\n`)
    await sleep(pauseMs)
  }
  to.end()
}

/** The ms from the sending of each piece to its arrival. */
async function readDelays(from: Readable): Promise<number[]> {
  const delays: number[] = []
  for await (const line of createInterface(from)) {
    if (line !== '') delays.push(performance.now() - Number(line.replace('data: ', '')))
  }
  return delays
}

/** The app, which sends pieces or measures those it receives. */
function startApp(t: TestContext): Promise<number> {
  return serveUpstream(t, async (asked, response) => {
    response.setHeader('content-type', asked.url === '/events' ? 'text/event-stream' : 'text/plain')
    response.flushHeaders()
    if (asked.url === '/upload') response.end(JSON.stringify(await readDelays(asked)))
    else await sendPieces(response)
  })
}

function openHttp1(port: number, isTls: boolean): Open {
  return async (path) => {
    const options = { port, path, method: 'POST', headers: { host: 'a.test' }, agent: false as const }
    const asking = isTls ? requestTls({ ...options, rejectUnauthorized: false }) : request(options)
    asking.flushHeaders()
    const [response] = await once(asking, 'response')
    return { request: asking, response }
  }
}

function openHttp2(t: TestContext, port: number): Open {
  return async (path) => {
    const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
    t.after(() => session.destroy())
    const stream = session.request({ ':method': 'POST', ':path': path, ':authority': 'a.test' })
    await once(stream, 'response')
    return { request: stream, response: stream }
  }
}

const kinds: Record<string, (open: Open) => Promise<number[]>> = {
  'event stream': async (open) => readDelays(await finishRequest(open('/events'))),
  'chunked response': async (open) => readDelays(await finishRequest(open('/pieces'))),
  'chunked request': async (open) => {
    const { request: asking, response } = await open('/upload')
    await sendPieces(asking)
    return JSON.parse((await response.setEncoding('utf8').toArray()).join(''))
  },
}

async function finishRequest(opening: Promise<Exchange>): Promise<Readable> {
  const { request: asking, response } = await opening
  asking.end()
  return response
}

test('each piece of a stream passes the edge at once', async (t) => {
  const edge = await startEdge(t)
  const port = await startApp(t)
  await edge.driver.apply(routesTo({ 'a.test': [upstream(port)] }))
  const { httpPort, httpsPort } = edge.frame
  const ways: Record<string, Open> = {
    http: openHttp1(httpPort, false),
    'https/1.1': openHttp1(httpsPort, true),
    'https/2': openHttp2(t, httpsPort),
  }

  const added = Object.entries(kinds).map(async ([kind, measure]) => {
    const direct = measure(openHttp1(port, false))
    const delays = Object.entries(ways).map(async ([way, open]) => {
      const [found, expected] = [await measure(open), await direct]
      assert.deepEqual([found.length, expected.length], [pieces, pieces], `${kind}, ${way}`)
      return { name: `${kind}, ${way}`, ms: median(found) - median(expected) }
    })
    return Promise.all(delays)
  })

  const measured = (await Promise.all(added)).flat()
  for (const { name, ms } of measured) t.diagnostic(`${name}: ${ms.toFixed(1)} ms (goal ${goalMs} ms)`)
  assert.deepEqual(
    measured.filter(({ ms }) => ms > mostMs),
    [],
  )
})
