// A proxy to the real engine whose BuildKit can hang: current and new builds make no progress while the rest
// of the engine responds, as when BuildKit's scheduler loops.
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { type Scope, temporaryDirectory } from '../system/directory.ts'
import { ensureEngine } from './engine.ts'

interface HungBuilder {
  /** For `--docker`. */
  address: string
  hang(): void
  /** Ends the hang; hung builds are cut, as by a restart of the engine. */
  recover(): void
  /** Fails the next build with that error without passing it to the engine. */
  fail(error: string): void
  /** The number of builds that hang now. */
  held(): number
}

const buildKitBuild = /^POST \/v[\d.]+\/build\?\S*version=2/

export async function openHungBuilder(t: Scope): Promise<HungBuilder> {
  const target = new URL(await ensureEngine())
  const path = join(temporaryDirectory(t), 'docker.sock')
  const sockets = new Set<Socket>()
  const builds = new Map<Socket, Socket>()
  let hangs = false
  let failure: string | null = null
  const keep = (socket: Socket) => {
    sockets.add(socket)
    return socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket))
  }
  const server = createServer((client) => {
    keep(client).once('data', (first: Buffer) => {
      client.pause()
      const upstream = keep(dial(target))
      tie(client, upstream)
      if (buildKitBuild.test(first.toString('latin1'))) {
        const error = failure
        failure = null
        if (error !== null) return void client.end(failedBuild(error))
        builds.set(client, upstream)
        client.on('close', () => builds.delete(client))
        if (hangs) return
      }
      upstream.write(first)
      client.pipe(upstream).pipe(client)
    })
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return {
    address: `unix://${path}`,
    hang() {
      hangs = true
      for (const [client, upstream] of builds) stall(client, upstream)
    },
    recover() {
      hangs = false
      for (const client of builds.keys()) client.destroy()
    },
    fail(error) {
      failure = error
    },
    held: () => (hangs ? builds.size : 0),
  }
}

/** When one closes, the other is destroyed. */
function tie(client: Socket, upstream: Socket): void {
  client.on('close', () => upstream.destroy())
  upstream.on('close', () => client.destroy())
}

function stall(client: Socket, upstream: Socket): void {
  client.unpipe(upstream).pause()
  upstream.unpipe(client).pause()
}

function failedBuild(error: string): string {
  return `HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${JSON.stringify({ error })}\n`
}

function dial({ protocol, pathname, port, hostname }: URL): Socket {
  return protocol === 'unix:' ? connect(pathname) : connect(Number(port), hostname)
}
