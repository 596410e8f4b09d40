// A proxy to the real engine that can break all connections, like a restart of the engine.
import { createServer, connect as dial, type Socket } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Engine, openEngine } from '../../../src/docker/engine/client.ts'
import { temporaryDirectory } from '../system/directory.ts'
import { ensureEngine } from './engine.ts'

interface EngineProxy {
  engine: Engine
  /** Breaks every open connection; new ones are accepted. */
  cut(): void
  /** The number of open client connections. */
  count(): number
}

export async function openEngineProxy(t: TestContext): Promise<EngineProxy> {
  const target = new URL(await ensureEngine())
  const path = join(temporaryDirectory(t), 'docker.sock')
  const open = new Set<Socket>()
  const server = createServer((client) => {
    const upstream =
      target.protocol === 'unix:' ? dial(target.pathname) : dial(Number(target.port), target.hostname)
    for (const [here, there] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(here)
      here
        .on('error', () => {})
        .on('close', () => {
          open.delete(here)
          there.destroy()
        })
      here.pipe(there)
    }
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  const engine = openEngine(`unix://${path}`)
  const cut = () => open.forEach((socket) => void socket.destroy())
  t.after(() => {
    engine.close()
    cut()
    server.close()
  })
  return { engine, cut, count: () => open.size / 2 }
}
