// A TCP relay in front of a server, which cuts or holds its connections on demand.
import { connect, createServer, type Socket } from 'node:net'
import type { Scope } from '../system/directory.ts'

export interface Relay {
  port: number
  /** Once, when so many bytes went up, or came down, from now on. */
  cutAfter(bytes: number, direction: 'up' | 'down'): void
  cuts(): number
  /** Holds each connection that sends when so many bytes went up from now on. */
  holdAfter(bytes: number): void
}

export async function startRelay(t: Scope, to: number): Promise<Relay> {
  let left: { up: number; down: number } = { up: Number.POSITIVE_INFINITY, down: Number.POSITIVE_INFINITY }
  let cuts = 0
  let passes = Number.POSITIVE_INFINITY
  const open = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(to, '127.0.0.1')
    const end = () => {
      client.destroy()
      upstream.destroy()
      open.delete(client)
    }
    const pass = (from: Socket, into: Socket, direction: 'up' | 'down') =>
      from.on('data', (piece) => {
        left[direction] -= piece.length
        if (direction === 'up') passes -= piece.length
        if (passes < 0) return from.pause()
        if (left[direction] < 0) {
          left = { up: Number.POSITIVE_INFINITY, down: Number.POSITIVE_INFINITY }
          cuts += 1
          return end()
        }
        if (into.write(piece)) return
        from.pause()
        into.once('drain', () => from.resume())
      })
    open.add(client)
    pass(client, upstream, 'up')
    pass(upstream, client, 'down')
    for (const socket of [client, upstream]) socket.on('close', end).on('error', end)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return {
    port: (server.address() as { port: number }).port,
    cutAfter: (bytes, direction) => {
      left = { ...left, [direction]: bytes }
    },
    cuts: () => cuts,
    holdAfter: (bytes) => {
      passes = bytes
    },
  }
}
