// Registries that a pull must survive: a silent one, an endlessly slow one and one that refuses.
import { createHash, randomUUID } from 'node:crypto'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

const manifestType = 'application/vnd.docker.distribution.manifest.v2+json'
const configType = 'application/vnd.docker.container.image.v1+json'
const layerType = 'application/vnd.docker.image.rootfs.diff.tar.gzip'

/** Accepts connections and never responds. */
export async function startSilentRegistry(t: TestContext): Promise<{ host: string; open: Set<Socket> }> {
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket.on('error', () => {}))
    socket.on('close', () => open.delete(socket)).resume()
  })
  t.after(() => {
    server.close()
    for (const socket of open) socket.destroy()
  })
  return { host: await listen(server), open }
}

/** Serves the manifest, then its only layer byte by byte without end. */
export async function startSlowRegistry(t: TestContext): Promise<{ name: string; waiting: Set<string> }> {
  const waiting = new Set<string>()
  const { config, manifest } = describeImage()
  const host = await serve(t, ({ url = '' }, response) => {
    if (!url.includes('/blobs/')) return void response.setHeader('content-type', manifestType).end(manifest)
    if (url.endsWith(digestOf(config))) return void response.end(config)
    waiting.add(url)
    // The engine checks for cancellation only when data arrives.
    const trickle = setInterval(() => response.write('.'), 20)
    response.on('close', () => {
      clearInterval(trickle)
      waiting.delete(url)
    })
  })
  return { name: `${host}/app@${digestOf(manifest)}`, waiting }
}

/** Identifies as a registry, then refuses every request with `code`, a registry error code. */
export function startRefusingRegistry(t: TestContext, status: number, code: string): Promise<string> {
  return serve(t, ({ url }, response) => {
    if (url === '/v2/') return void response.end('{}')
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ errors: [{ code, message: 'no' }] }))
  })
}

/** The manifest of an image with one random layer. */
function describeImage(): { config: string; manifest: string } {
  const rootfs = { type: 'layers', diff_ids: [digestOf(randomUUID())] }
  const config = JSON.stringify({ os: 'linux', rootfs })
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: manifestType,
    config: { mediaType: configType, size: config.length, digest: digestOf(config) },
    layers: [{ mediaType: layerType, size: 1_000_000, digest: digestOf(randomUUID()) }],
  })
  return { config, manifest }
}

function digestOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`
}

function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createHttpServer(listener)
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return listen(server)
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}
