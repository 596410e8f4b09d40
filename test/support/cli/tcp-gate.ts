// A TCP proxy in front of a server that a test can shut and reopen, to simulate network outages.

import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'
import type { Scope } from '../system/directory.ts'

export interface TcpGate {
  /** `http://127.0.0.1:…`; it never changes. */
  url: string
  /** Breaks open connections. */
  cut(): void
  /** Breaks open connections and refuses new ones until `open`. */
  shut(): void
  open(): void
}

export interface GateOptions {
  /** Breaks a connection after it has sent this many bytes to the server. */
  limitBytes?: number
}

/** `target` is called for each connection: a restarted server listens at another port. */
export async function openTcpGate(
  t: Scope,
  target: () => string,
  { limitBytes = Number.POSITIVE_INFINITY }: GateOptions = {},
): Promise<TcpGate> {
  const sockets = new Set<Socket>()
  let isShut = false
  const keep = (socket: Socket) => {
    sockets.add(socket.on('error', () => socket.destroy()))
    return socket.on('close', () => sockets.delete(socket))
  }
  const server = createServer((client) => {
    if (isShut) return void client.destroy()
    const { hostname, port } = new URL(target())
    const upstream = keep(connect(Number(port), hostname))
    let sentBytes = 0
    keep(client).on('data', (bytes) => {
      sentBytes += bytes.length
      if (sentBytes > limitBytes) client.destroy()
    })
    client.pipe(upstream).on('close', () => client.destroy())
    upstream.pipe(client).on('close', () => upstream.destroy())
  })
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    cut()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    shut() {
      isShut = true
      cut()
    },
    open() {
      isShut = false
    },
  }
}
