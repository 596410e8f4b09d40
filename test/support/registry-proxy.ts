// A door in front of a registry, under an address of its own: it can hold what is asked for, so that a test
// finds a pull half way.
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

export interface RegistryProxy {
  /** For the names of images, instead of the registry's. */
  host: string
  /** What is asked for and held back. */
  readonly held: number
  /** From now on layers and settings of images are held back; what they are made of is told. */
  hold(): void
  /** Everything comes through again. */
  release(): void
}

export async function openRegistryProxy(t: TestContext, registry: string): Promise<RegistryProxy> {
  const waiting = new Set<() => void>()
  let isHolding = false
  const server = createServer((asked, answer) => {
    const pass = () => {
      waiting.delete(pass)
      forward(registry, asked, answer)
    }
    if (!isHolding || !asked.url?.includes('/blobs/')) return pass()
    waiting.add(pass)
    answer.on('close', () => waiting.delete(pass))
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

function forward(registry: string, asked: IncomingMessage, answer: ServerResponse): void {
  const { method, url, headers } = asked
  const onward = request(`http://${registry}${url}`, { method, headers, agent: false })
  onward.on('error', () => answer.destroy())
  onward.on('response', (found) => {
    answer.writeHead(found.statusCode ?? 502, found.headers)
    found.pipe(answer)
  })
  asked.pipe(onward)
}
