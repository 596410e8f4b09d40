// Free ports of the host for datastores: tried by listening there, because nobody keeps a list.
// Mind: somebody may come in between. Docker's own word, at the start of the container, is the last one.
import { createServer } from 'node:net'

export interface PortRange {
  first: number
  last: number
}

/** Up to `count` ports of the range that are free now, from a place of chance on. */
export async function freePorts(
  bind: string,
  { first, last }: PortRange,
  count: number,
  taken: ReadonlySet<number>,
): Promise<number[]> {
  const size = last - first + 1
  const start = Math.floor(Math.random() * size)
  const free: number[] = []
  for (let step = 0; step < size && free.length < count; step++) {
    const port = first + ((start + step) % size)
    if (!taken.has(port) && (await isFree(bind, port))) free.push(port)
  }
  return free
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)))
  })
}
