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
  /** The next build ends with that error, and the engine never sees it. */
  fail(error: string): void
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

/** Either end breaks the other. */
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
