// A proxy that holds selected requests to an HTTP server, so that a test can act while a client waits.
// The server behind it never sees a held request.
import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net'
import type { Scope } from '../system/directory.ts'

export interface HoldingProxy {
  /** The port; 0 for a path. */
  port: number
  /** Holds requests whose request line matches from now on. */
  hold(pattern: RegExp): void
  /** The number of held requests that match. */
  held(pattern: RegExp): number
  /** Forwards all held requests and holds no more. */
  release(): void
}

interface Waiting {
  line: string
  pass: () => void
}

/** Listens at a path, or at a free port of every address. */
export async function openHoldingProxy(
  t: Scope,
  at: { path: string } | { port: 0 },
  target: NetConnectOpts,
): Promise<HoldingProxy> {
  const sockets = new Set<Socket>()
  const waiting = new Set<Waiting>()
  let patterns: RegExp[] = []
  const server = createServer((client) => {
    sockets.add(keep(client).on('close', () => sockets.delete(client)))
    client.once('data', (first: Buffer) => {
      client.pause()
      const one = { line: first.toString('latin1').split('\r\n')[0]!, pass }
      function pass() {
        waiting.delete(one)
        join(client, keep(connect(target)), first)
      }
      if (!patterns.some((pattern) => pattern.test(one.line))) return pass()
      waiting.add(one)
      client.on('close', () => waiting.delete(one))
    })
  })
  await new Promise<void>((resolve) => server.listen(at, resolve))
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    hold: (pattern) => void patterns.push(pattern),
    held: (pattern) => [...waiting].filter(({ line }) => pattern.test(line)).length,
    release() {
      patterns = []
      for (const { pass } of [...waiting]) pass()
    },
  }
}

function keep(socket: Socket): Socket {
  return socket.on('error', () => socket.destroy())
}

/** Connects both sockets: when one closes, the other is destroyed. */
function join(client: Socket, upstream: Socket, first: Buffer): void {
  upstream.write(first)
  client.pipe(upstream).on('close', () => client.destroy())
  upstream.pipe(client).on('close', () => upstream.destroy())
}
