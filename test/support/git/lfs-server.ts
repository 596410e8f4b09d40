// A git server with Git LFS, and the storage to which it sends its clients, at another address.
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type { Scope } from '../system/directory.ts'
import { createGitServer, type GitServerOptions } from './git-server.ts'

export interface LfsServerOptions extends GitServerOptions {
  /** Changes the response to a batch; a number is a status. */
  locate?: (oid: string, standard: LfsLocation, batchUrl: string) => object
  batch?: (count: number) => { status: number; text: string; location?: string } | null
  /** Sends an object itself. */
  send?: (response: ServerResponse, content: Buffer, path: string) => boolean
}

export interface LfsLocation {
  oid: string
  actions: { download: { href: string; header: Record<string, string> } }
}

export interface LfsRequest {
  path: string
  headers: IncomingMessage['headers']
}

export interface LfsServer {
  url: string
  storage: string
  batches: (LfsRequest & { body: { objects: { oid: string; size: number }[] } })[]
  downloads: LfsRequest[]
  /** Stores the content and returns its pointer. */
  add(content: string | Buffer): string
}

export function pointerOf(content: string | Buffer): string {
  const bytes = Buffer.from(content)
  return `version https://git-lfs.github.com/spec/v1\noid sha256:${oidOf(bytes)}\nsize ${bytes.length}\n`
}

const oidOf = (content: Buffer) => createHash('sha256').update(content).digest('hex')

export async function createLfsServer(t: Scope, options: LfsServerOptions): Promise<LfsServer> {
  const objects = new Map<string, Buffer>()
  const batches: LfsServer['batches'] = []
  const downloads: LfsRequest[] = []
  const storage = createServer((request, response) => {
    const { url: path = '/', headers } = request
    downloads.push({ path, headers })
    const content = objects.get(path.slice(1))
    if (content === undefined) response.writeHead(404).end('no such object')
    else if (!options.send?.(response, content, path)) response.end(content)
  })
  await new Promise<void>((resolve) => storage.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    storage.close()
    storage.closeAllConnections()
  })
  const storageUrl = `http://127.0.0.1:${(storage.address() as AddressInfo).port}`

  async function answerBatch(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await json(request)) as LfsServer['batches'][number]['body']
    batches.push({ path: request.url!, headers: request.headers, body })
    const other = options.batch?.(batches.length)
    if (other) {
      const headers = other.location === undefined ? {} : { location: other.location }
      return void response.writeHead(other.status, headers).end(other.text)
    }
    const located = body.objects.map(({ oid, size }) => {
      const download = {
        href: `${storageUrl}/${oid}`,
        header: { 'x-ticket': `ticket of ${oid.slice(0, 4)}` },
      }
      const standard = { oid, size, actions: { download } }
      return options.locate?.(oid, standard, url) ?? standard
    })
    response.end(JSON.stringify({ transfer: 'basic', objects: located }))
  }

  const { url } = await createGitServer(t, {
    ...options,
    intercept(request, response) {
      const isBatch = request.method === 'POST' && request.url!.endsWith('/objects/batch')
      if (isBatch) void answerBatch(request, response)
      return isBatch
    },
  })
  return {
    url,
    storage: storageUrl,
    batches,
    downloads,
    add(content) {
      const bytes = Buffer.from(content)
      objects.set(oidOf(bytes), bytes)
      return pointerOf(bytes)
    },
  }
}
