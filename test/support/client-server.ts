// A server that has one datastore, and whose WebSocket does what a test says. Closed after the test.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Answered } from './answering-server.ts'
import type { Scope } from './directory.ts'

export interface ClientServer {
  /** Names localhost. */
  url: string
  /** What asked for a WebSocket. */
  asked: IncomingMessage[]
  /** What came over it, text parsed. */
  heard: { messages: unknown[]; bytes: Buffer[] }
}

interface Options {
  /** Instead of a WebSocket. */
  refusal?: Answered
  /** Once it has heard `start`. */
  answer?: (socket: WebSocket) => void
  tls?: { key: string; cert: string }
  kind?: 'postgres' | 'redis'
}

export async function clientServer(t: Scope, options: Options): Promise<ClientServer> {
  const { tls, kind = 'postgres' } = options
  const server: Server = tls ? createSecureServer(tls) : createServer()
  const asked: IncomingMessage[] = []
  const heard: ClientServer['heard'] = { messages: [], bytes: [] }
  server.on('request', (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ id: 'dst-1', name: 'shop', kind, status: 'available' }))
  })
  const sockets = new WebSocketServer({ noServer: true })
  server.on('upgrade', (request: IncomingMessage, wire: Duplex, head: Buffer) => {
    asked.push(request)
    if (options.refusal) return refuse(wire, options.refusal)
    sockets.handleUpgrade(request, wire, head, (socket) => listen(socket, heard, options.answer))
  })
  const listening = once(server, 'listening')
  server.listen(0, '127.0.0.1')
  await listening
  t.after(() => {
    for (const socket of sockets.clients) socket.terminate()
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http${tls ? 's' : ''}://localhost:${port}`, asked, heard }
}

function listen(socket: WebSocket, heard: ClientServer['heard'], answer: Options['answer']): void {
  socket.on('message', (data, isBinary) => {
    if (isBinary) return void heard.bytes.push(data as Buffer)
    const message = JSON.parse(String(data))
    heard.messages.push(message)
    if (message.type === 'start') answer?.(socket)
  })
}

function refuse(wire: Duplex, { status = 200, body, headers = {} }: Answered): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const all = { 'content-type': 'application/problem+json', 'content-length': text.length, ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  wire.end([`HTTP/1.1 ${status} Refused`, ...lines, '', text].join('\r\n'))
}
