// The app of the edge's tests: every answer says which version gave it.
// Usage: server.js VERSION [NAME=VALUE]…, of which
//   port=PORT      it listens there instead
//   health=STATUS  it answers that about its health
//   exit=MS        it ends that long after it began to listen
//   again=MS       when it is started again it needs that long to listen
//   verify=MS      an answer about its health takes that long through the edge
//   hangup=HEADER  it hangs up on every request that has this header
//   abrupt=1       it finishes nothing when it is told to end
//   tell=1         it writes down each request that is not for its health
import { createHash } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

const [, , version, ...wishes] = process.argv
const wished = Object.fromEntries(wishes.map((wish) => wish.split('=')))
const { port = process.env.PORT, health = '200', exit, again, verify = '0', hangup, abrupt, tell } = wished
const startedBefore = '/tmp/started'
const tickMs = 100
const streams = new Set()
const sockets = new Set()

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://app')
  response.setHeader('x-version', version)
  response.setHeader('x-instance', hostname())
  if (hangup && request.headers[hangup] !== undefined) return request.socket.destroy()
  if (pathname === '/healthz') return answerHealth(request, response)
  if (tell) console.log(`asked for ${pathname} by ${request.headers['user-agent']}`)
  if (pathname === '/slow') return answerSlowly(response, searchParams)
  if (pathname === '/events') return streamEvents(response)
  request.resume()
  request.on('end', () => response.end(version))
})

async function answerHealth({ headers }, response) {
  if (headers['x-forwarded-for'] !== undefined) await sleep(Number(verify))
  response.writeHead(Number(health)).end()
}

/** The first byte at once, the last after `ms`. */
async function answerSlowly(response, wish) {
  response.write(`${version} `)
  await sleep(Number(wish.get('ms')))
  response.end('done')
}

function streamEvents(response) {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  let count = 0
  const tick = () => response.write(`data: ${++count}\n\n`)
  tick()
  const timer = setInterval(tick, tickMs)
  streams.add(response)
  response.on('close', () => {
    clearInterval(timer)
    streams.delete(response)
  })
}

/** A WebSocket that only speaks: text frames shorter than 126 bytes. */
server.on('upgrade', (request, socket) => {
  const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
  const accept = createHash('sha1').update(key).digest('base64')
  const head = ['HTTP/1.1 101 Switching Protocols', 'upgrade: websocket', 'connection: upgrade']
  socket.write([...head, `sec-websocket-accept: ${accept}`, '', ''].join('\r\n'))
  socket.on('error', () => undefined)
  socket.on('close', () => sockets.delete(socket))
  socket.resume()
  sockets.add(socket)
  say(socket, version)
})

function say(socket, text) {
  socket.write(Buffer.concat([Buffer.from([0x81, text.length]), Buffer.from(text)]))
}

process.on('SIGTERM', () => {
  if (abrupt) process.exit(143)
  server.close(() => process.exit(0))
  for (const response of streams) response.end('event: goodbye\ndata:\n\n')
  for (const socket of sockets) {
    say(socket, 'goodbye')
    socket.end(Buffer.from([0x88, 2, 1001 >> 8, 1001 & 255]))
  }
})

if (again && existsSync(startedBefore)) await sleep(Number(again))
writeFileSync(startedBefore, '')
server.listen(Number(port), () => {
  console.log(`${version} listens`)
  if (exit) setTimeout(() => process.exit(3), Number(exit))
})
