// A gate that an app or a build polls until the test opens it.
import { createServer } from 'node:http'
import type { Scope } from '../system/directory.ts'

export interface GateServer {
  /** A shell command that ends when the gate is open. `name` identifies the caller. */
  wait(name: string): string
  hasAsked(name: string): boolean
  open(): void
  close(): void
}

/** Starts closed; containers reach it if the daemon's firewall allows it. */
export async function openGateServer(
  t: Scope,
  { address, port }: { address: string; port: number },
): Promise<GateServer> {
  const requested = new Set<string>()
  let isOpen = false
  const server = createServer((request, response) => {
    requested.add(request.url!.slice(1))
    response.writeHead(isOpen ? 200 : 503).end()
  })
  await new Promise<void>((resolve) => server.listen(port, resolve))
  t.after(() => server.close())
  return {
    wait: (name) => `until wget -q -O /dev/null http://${address}:${port}/${name}; do sleep 0.2; done`,
    hasAsked: (name) => requested.has(name),
    open() {
      isOpen = true
    },
    close() {
      isOpen = false
      requested.clear()
    },
  }
}
