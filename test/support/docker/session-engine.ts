// An engine that only opens build sessions and calls their methods, including those that the installed engine
// does not use.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type ClientHttp2Session, connect } from 'node:http2'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { type Engine, openEngine } from '../../../src/docker/engine/client.ts'
import { temporaryDirectory } from '../system/directory.ts'

interface SessionEngine {
  engine: Engine
  /** Calls a method of the newest session with an encoded message; status 0 is success. */
  callSession(path: string, message: Uint8Array): Promise<{ status: number; message: Buffer }>
}

export async function openSessionEngine(t: TestContext): Promise<SessionEngine> {
  let session: ClientHttp2Session | null = null
  const server = createServer((_, response) => response.end(JSON.stringify({ ApiVersion: '1.99' })))
  server.on('upgrade', (_, socket: Socket) => {
    socket.write('HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n')
    session = connect('http://session', { createConnection: () => socket })
  })
  const path = join(temporaryDirectory(t), 'docker.sock')
  await new Promise<void>((resolve) => server.listen(path, resolve))
  const engine = openEngine(`unix://${path}`)
  t.after(() => {
    engine.close()
    session?.destroy()
    server.close()
  })
  return { engine, callSession: (method, message) => call(session!, method, message) }
}

/** One gRPC call: the message has a five-byte prefix, and the status is in the trailers. */
async function call(session: ClientHttp2Session, path: string, message: Uint8Array) {
  const headers = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' }
  const stream = session.request(headers)
  const statuses: unknown[] = []
  const remember = (head: Record<string, unknown>) => statuses.push(head['grpc-status'])
  stream.on('response', remember).on('trailers', remember)
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  stream.end(Buffer.concat([head, message]))
  const response = await buffer(stream)
  if (!stream.closed) await once(stream, 'close')
  return { status: Number(statuses.find((status) => status !== undefined)), message: response.subarray(5) }
}
