// The app of the soak: every response names its deploy and its instance.
// Usage: server.js VERSION BEHAVIOR START_DELAY_MS. The behavior is the reaction to SIGTERM: `ignoring` has no
// handler, so as process 1 of a container it runs until SIGKILL; `abrupt` exits immediately, like a program
// without a handler elsewhere; `graceful` finishes open requests and says goodbye to its streams.
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocketServer } from 'ws'

const [, , version, manner, startDelayMs] = process.argv
const answeredBy = `${process.env.BERTH_DEPLOY_ID ?? version} ${hostname()}/${randomBytes(4).toString('hex')}`
const tickMs = 200
const goingAway = 1001

const eventStreams = new Set()
let isLeaving = false

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://app')
  response.setHeader('x-answered-by', answeredBy)
  if (isLeaving) response.setHeader('connection', 'close')
  if (pathname === '/') return response.end(answeredBy)
  if (pathname === '/healthz') return response.end('ok')
  if (pathname === '/echo') return echo(request, response)
  if (pathname === '/events') return streamEvents(response)
  if (pathname === '/slow') return answerSlowly(response, searchParams)
  response.writeHead(404).end()
})

const sockets = new WebSocketServer({ server, path: '/socket', perMessageDeflate: false })
sockets.on('headers', (headers) => headers.push(`x-answered-by: ${answeredBy}`))
sockets.on('connection', (socket) => {
  socket.on('message', (message, isBinary) => socket.send(message, { binary: isBinary }))
  socket.on('error', () => undefined)
})

async function echo(request, response) {
  const chunks = []
  request.on('error', () => undefined)
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => response.end(Buffer.concat(chunks)))
}

/** After `ms`; with `stream` a line of it at a time, the first at once. */
async function answerSlowly(response, wish) {
  const endAt = Date.now() + Number(wish.get('ms'))
  while (wish.has('stream') && Date.now() < endAt && !response.destroyed) {
    response.write('.\n')
    await sleep(Math.min(tickMs, endAt - Date.now()))
  }
  await sleep(Math.max(0, endAt - Date.now()))
  response.end('done')
}

function streamEvents(response) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  let count = 0
  const tick = () => response.write(`data: ${++count}\n\n`)
  tick()
  const timer = setInterval(tick, tickMs)
  eventStreams.add(response)
  response.on('close', () => {
    clearInterval(timer)
    eventStreams.delete(response)
  })
}

function sayGoodbye() {
  isLeaving = true
  server.close(() => process.exit(0))
  for (const response of eventStreams) response.end('event: goodbye\ndata:\n\n')
  for (const socket of sockets.clients) socket.close(goingAway)
}

if (manner === 'abrupt') process.on('SIGTERM', () => process.exit(143))
if (manner === 'graceful') process.on('SIGTERM', sayGoodbye)
await sleep(Number(startDelayMs))
server.listen(Number(process.env.PORT ?? 3000), () =>
  console.log(`${version} listens at ${server.address().port}`),
)
