// A proxy in front of a registry that can hold blob requests, so that a test can act in the middle of a pull.
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

interface RegistryProxy {
  /** The host for image names, instead of the registry's. */
  host: string
  /** The number of held requests. */
  readonly held: number
  /** Holds requests for layers and configurations from now on; manifests are served. */
  hold(): void
  /** Forwards the held requests and holds no more. */
  release(): void
}

export async function openRegistryProxy(t: TestContext, registry: string): Promise<RegistryProxy> {
  const waiting = new Set<() => void>()
  let isHolding = false
  const server = createServer((requested, response) => {
    const pass = () => {
      waiting.delete(pass)
      forward(registry, requested, response)
    }
    if (!isHolding || !requested.url?.includes('/blobs/')) return pass()
    waiting.add(pass)
    response.on('close', () => waiting.delete(pass))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    get held() {
      return waiting.size
    },
    hold() {
      isHolding = true
    },
    release() {
      isHolding = false
      for (const pass of [...waiting]) pass()
    },
  }
}

function forward(registry: string, requested: IncomingMessage, response: ServerResponse): void {
  const { method, url, headers } = requested
  const onward = request(`http://${registry}${url}`, { method, headers, agent: false })
  onward.on('error', () => response.destroy())
  onward.on('response', (message) => {
    response.writeHead(message.statusCode ?? 502, message.headers)
    message.pipe(response)
  })
  requested.pipe(onward)
}
