// A door in front of the real engine whose BuildKit can hang: its builds, those that run and those that come,
// get no further, while all else of the engine answers. So does an engine whose scheduler loops.
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { type Scope, temporaryDirectory } from './directory.ts'
import { ensureEngine } from './engine.ts'

export interface HungBuilder {
  /** For `--docker`. */
  address: string
  hang(): void
  /** It works again; builds that hung are cut, as by a restart of the engine. */
  recover(): void
  /** How many of its builds hang now. */
  held(): number
}

const buildKitBuild = /^POST \/v[\d.]+\/build\?\S*version=2/

export async function openHungBuilder(t: Scope): Promise<HungBuilder> {
  const target = new URL(await ensureEngine())
  const path = join(temporaryDirectory(t), 'docker.sock')
  const sockets = new Set<Socket>()
  const builds = new Map<Socket, Socket>()
  let hangs = false
  const keep = (socket: Socket) => {
    sockets.add(socket.on('error', () => socket.destroy()))
    return socket.on('close', () => sockets.delete(socket))
  }
  const server = createServer((client) => {
    keep(client).once('data', (first: Buffer) => {
      client.pause()
      const upstream = keep(target.protocol === 'unix:' ? connect(target.pathname) : dialPort(target))
      client.on('close', () => upstream.destroy())
      upstream.on('close', () => client.destroy())
      if (buildKitBuild.test(first.toString('latin1'))) {
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
      for (const [client, upstream] of builds) {
        client.unpipe(upstream).pause()
        upstream.unpipe(client).pause()
      }
    },
    recover() {
      hangs = false
      for (const client of builds.keys()) client.destroy()
    },
    held: () => (hangs ? builds.size : 0),
  }
}

function dialPort({ port, hostname }: URL): Socket {
  return connect(Number(port), hostname)
}
