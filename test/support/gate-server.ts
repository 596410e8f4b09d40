// What an app or a build waits for: it asks again and again until the test opens.
import { createServer } from 'node:http'
import type { Scope } from './directory.ts'

export interface GateServer {
  /** A shell command that ends when the gate is open. `name` tells who asks. */
  wait(name: string): string
  hasAsked(name: string): boolean
  open(): void
  close(): void
}

/** Closed at first; containers reach it there, where the daemon lets them. */
export async function openGateServer(
  t: Scope,
  { address, port }: { address: string; port: number },
): Promise<GateServer> {
  const asked = new Set<string>()
  let isOpen = false
  const server = createServer((request, response) => {
    asked.add(request.url!.slice(1))
    response.writeHead(isOpen ? 200 : 503).end()
  })
  await new Promise<void>((resolve) => server.listen(port, resolve))
  t.after(() => server.close())
  return {
    wait: (name) => `until wget -q -O /dev/null http://${address}:${port}/${name}; do sleep 0.2; done`,
    hasAsked: (name) => asked.has(name),
    open() {
      isOpen = true
    },
    close() {
      isOpen = false
      asked.clear()
    },
  }
}
