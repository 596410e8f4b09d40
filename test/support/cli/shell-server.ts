// A server with one datastore and a WebSocket under the control of the test. Closed after the test.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Scope } from '../system/directory.ts'
import type { FakeResponse } from './fake-server.ts'

export interface ShellServer {
  /** With the host name localhost. */
  url: string
  sockets: WebSocket[]
  /** Upgrade requests. */
  upgrades: IncomingMessage[]
  /** Messages received: text parsed, binary as bytes. */
  received: { messages: unknown[]; bytes: Buffer[] }
}

interface Options {
  /** Response to an upgrade, in place of a WebSocket. */
  refusal?: FakeResponse
  /** Called when `start` arrives. */
  answer?: (socket: WebSocket) => void
  tls?: { key: string; cert: string }
}

export async function startShellServer(t: Scope, options: Options): Promise<ShellServer> {
  const { tls } = options
  const server: Server = tls ? createSecureServer(tls) : createServer()
  const upgrades: IncomingMessage[] = []
  const opened: WebSocket[] = []
  const received: ShellServer['received'] = { messages: [], bytes: [] }
  server.on('request', (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ id: 'dst-1', name: 'shop', kind: 'postgres', status: 'available' }))
  })
  const sockets = new WebSocketServer({ noServer: true })
  server.on('upgrade', (request: IncomingMessage, wire: Duplex, head: Buffer) => {
    upgrades.push(request)
    if (options.refusal) return refuse(wire, options.refusal)
    sockets.handleUpgrade(request, wire, head, (socket) => {
      opened.push(socket)
      listen(socket, received, options.answer)
    })
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
  return { url: `http${tls ? 's' : ''}://localhost:${port}`, sockets: opened, upgrades, received }
}

function listen(socket: WebSocket, received: ShellServer['received'], response: Options['answer']): void {
  socket.on('message', (data, isBinary) => {
    if (isBinary) return void received.bytes.push(data as Buffer)
    const message = JSON.parse(String(data))
    received.messages.push(message)
    if (message.type === 'start') response?.(socket)
  })
}

function refuse(wire: Duplex, { status = 200, body, headers = {} }: FakeResponse): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const all = { 'content-type': 'application/problem+json', 'content-length': text.length, ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  wire.end([`HTTP/1.1 ${status} Refused`, ...lines, '', text].join('\r\n'))
}
