// A socket in front of the real engine that a test opens and closes, to make the engine unavailable.
import { rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { type Scope, temporaryDirectory } from '../system/directory.ts'
import { ensureEngine } from './engine.ts'

interface EngineGate {
  /** For `--docker`. */
  address: string
  open(): Promise<void>
  /** Refuses new connections and breaks the open ones. */
  close(): void
}

/** Starts closed. */
export async function createEngineGate(t: Scope): Promise<EngineGate> {
  const engine = new URL(await ensureEngine())
  const path = join(temporaryDirectory(t), 'docker.sock')
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket.on('error', () => socket.destroy()))
    socket.on('close', () => sockets.delete(socket))
  }
  const dial = () =>
    engine.protocol === 'unix:' ? connect(engine.pathname) : connect(Number(engine.port), engine.hostname)
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = dial()
    keep(client)
    keep(upstream)
    client.pipe(upstream).on('close', () => client.destroy())
    upstream.pipe(client).on('close', () => upstream.destroy())
  })
  const close = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  t.after(close)
  return {
    address: `unix://${path}`,
    async open() {
      rmSync(path, { force: true })
      await new Promise<void>((resolve) => server.listen(path, resolve))
    },
    close,
  }
}
