// Clients that attack an edge with trailers, and clients that check their own responses during the attack.

import type { ClientHttp2Session } from 'node:http2'
import { Agent, request } from 'node:https'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import type { RunningEdge } from './running-edge.ts'

const host = 'a.test'
/** Rounds continue for longer on a busy machine. */
const [leastVisits, leastAttacks] = [30, 20]

/** Data that an attacker sends after the last chunk; HAProxy rejects some of it. */
export const endings = [
  '0\r\nxxget: /stolen HTTP/1.1\r\nhost: a.test\r\n\r\n',
  '0\r\nxxpost: /stolen HTTP/1.1\r\nhost: a.test\r\ncontent-length: 50\r\n\r\n',
  '0\r\naaGET /stolen HTTP/1.1\r\nHost: a.test\r\n\r\n',
  '0\r\n\r\nGET /stolen HTTP/1.1\r\nHost: a.test\r\n\r\n',
  '0\r\ncontent-length: 50\r\n\r\n',
  '0\r\nx-trailer: 1\r\n\r\n',
  '0;a=b\r\nxxget: /stolen HTTP/1.1\r\nhost: a.test\r\n\r\n',
  '0  \r\nxxget: /stolen HTTP/1.1\r\nhost: a.test\r\n\r\n',
  '0\n\nxxget: /stolen HTTP/1.1\r\nhost: a.test\r\n\r\n',
]

interface Attack {
  isTls: boolean
  path: string
  endings: readonly string[]
}

/** Sends each form repeatedly, on a new connection each time. */
export async function attack(
  edge: RunningEdge,
  { isTls, path, endings }: Attack,
  until: number,
): Promise<number> {
  let sent = 0
  for (; Date.now() < until || sent < leastAttacks; sent++) {
    const port = isTls ? edge.frame.httpsPort : edge.frame.httpPort
    const head = `GET ${path} HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n`
    const upgrade = sent % 10 === 9 ? 'Connection: upgrade\r\nUpgrade: x\r\n' : ''
    const text = `${head}${upgrade}\r\n1\r\na\r\n${endings[sent % endings.length]}`
    await new Promise<void>((resolve) => {
      const options = { port, host: '127.0.0.1', noDelay: true, rejectUnauthorized: false }
      const socket = isTls ? connectTls(options) : connect(options)
      socket.once('data', () => socket.destroy()).once('error', () => {})
      socket.once('close', () => resolve())
      socket.setTimeout(200, () => socket.destroy())
      socket.write(text)
    })
  }
  return sent
}

/** The same over HTTP/2, where trailer names must not contain spaces but values are arbitrary. */
export async function attackByHttp2(session: ClientHttp2Session, until: number): Promise<number> {
  let sent = 0
  for (; Date.now() < until || sent < leastAttacks; sent++) {
    const head = { ':path': '/attack', ':authority': host, ':method': sent % 3 ? 'POST' : 'GET' }
    const stream = session.request(head, { waitForTrailers: true, endStream: false })
    stream.on('wantTrailers', () => stream.sendTrailers({ xxget: '/stolen HTTP/1.1', host }))
    stream.on('error', () => {})
    stream.resume()
    const closed = new Promise((resolve) => stream.once('close', resolve))
    if (sent % 2) await sleep(2)
    stream.end(sent % 5 ? 'a' : undefined)
    await Promise.race([closed, sleep(200)])
  }
  return sent
}

export interface Visitor {
  /** The path of each request, by its number. */
  path(requestCount: number): string
  headers?: Record<string, string>
  isRight(body: string, path: string): boolean
}

interface Visits {
  requestCount: number
  /** Data received in place of the expected response. */
  wrong: string[]
}

/** Sends requests repeatedly on one connection. */
export async function visit(edge: RunningEdge, visitor: Visitor, until: number): Promise<Visits> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false })
  const wrong: string[] = []
  const headers = { ...visitor.headers, host }
  let requestCount = 0
  for (; Date.now() < until || requestCount < leastVisits; requestCount++) {
    const path = visitor.path(requestCount)
    const body = await new Promise<string>((resolve) => {
      const asking = request({ port: edge.frame.httpsPort, path, agent, headers }, (response) => {
        let text = ''
        response.on('data', (chunk) => (text += chunk)).on('end', () => resolve(text))
      })
      asking.once('error', (error) => resolve(error.message)).end()
    })
    if (!visitor.isRight(body, path)) wrong.push(body)
    await sleep(2)
  }
  agent.destroy()
  return { requestCount: requestCount, wrong }
}
