// Detects hostile text that was executed: it would create a file in this folder or connect to this port.
import { readdirSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { type Scope, temporaryDirectory } from '../system/directory.ts'
import type { HostileCanary } from './hostile.ts'

export interface PlacedCanary extends HostileCanary {
  /** Names of created files, and connections. Empty when no text was executed. */
  evidence(): string[]
}

export async function placeCanary(t: Scope): Promise<PlacedCanary> {
  const directory = temporaryDirectory(t)
  const connections: string[] = []
  const server = createServer((socket) => {
    connections.push('a connection')
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  return { directory, port, evidence: () => [...readdirSync(directory), ...connections] }
}
