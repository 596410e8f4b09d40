// Connections of many clients to an edge, each kind as an attacker would hold them.
import { connect, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

export interface Client extends Socket {
  /** All data received. */
  received: string
}

/** From another address of loopback: `127.0.0.2` and so on. */
export function openClient(t: TestContext, port: number, from: string, text: string): Client {
  const host = from.includes(':') ? '::1' : '127.0.0.1'
  const client = connect({ port, host, localAddress: from }) as Client
  client.received = ''
  client.on('data', (chunk) => (client.received += chunk.toString('latin1'))).on('error', () => {})
  client.write(text)
  t.after(() => client.destroy())
  return client
}

/** Resolves when each connection has a response or is closed. */
export async function untilSettled(clients: readonly Client[]): Promise<void> {
  const settled = clients.map(
    (client) =>
      new Promise<void>((resolve) => {
        if (client.received !== '' || client.closed) return resolve()
        client.once('data', () => resolve()).once('close', () => resolve())
      }),
  )
  await Promise.all(settled)
}
