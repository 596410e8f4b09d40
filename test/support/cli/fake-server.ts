// An HTTP server whose responses the test provides, for cases that a real one reaches late or never.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Scope } from '../system/directory.ts'

export interface ReceivedRequest {
  method: string
  /** With the query. */
  path: string
  headers: IncomingHttpHeaders
  /** Parsed; undefined without a body. */
  body: unknown
}

export interface FakeResponse {
  status?: number
  /** Sent as JSON; a string is sent as it is. */
  body?: unknown
  headers?: Record<string, string>
}

export interface FakeServer {
  readonly url: string
  /** All requests, in order of arrival. */
  readonly requests: ReceivedRequest[]
  /** Stops listening and closes open connections. */
  stop(): Promise<void>
  /** Listens again at the same address. */
  restart(): Promise<void>
}

/** Closed after the test. */
export async function startFakeServer(
  t: Scope,
  respond: (request: ReceivedRequest) => FakeResponse,
): Promise<FakeServer> {
  const requests: ReceivedRequest[] = []
  const server = createServer(async (request, response) => {
    const sent = await text(request)
    const { method = '', url = '', headers } = request
    const one = { method, path: url, headers, body: sent === '' ? undefined : JSON.parse(sent) }
    requests.push(one)
    const { status = 200, body, headers: more } = respond(one)
    response.writeHead(status, { 'content-type': 'application/json', ...more })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  await listen(server, 0)
  const { port } = server.address() as AddressInfo
  const stop = async () => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
  t.after(stop)
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    stop,
    restart: () => listen(server, port),
  }
}

async function listen(server: Server, port: number): Promise<void> {
  const listening = once(server, 'listening')
  server.listen(port, '127.0.0.1')
  await listening
}

/** An error response in the API's format. */
export function problem(status: number, code: string, detail: string, more: object = {}): FakeResponse {
  return {
    status,
    body: { type: 'about:blank', title: '', status, code, detail, request_id: 'req-1', ...more },
  }
}

export const someInfo = {
  version: '0.1.0',
  base_domain: 'localhost',
  default_memory_limit_mb: 512,
  default_cpu_limit: 1,
  builds: {
    builder: 'buildkit',
    memory_limit_mb: 4096,
    cpu_limit: 1.75,
    pids_limit: 4096,
    limits_in_force: true,
    limits_reason: null,
    cache_size_mb: 10_240,
    hangs_since: null,
  },
  docker_version: '27.0.0',
  docker_cpus: 2,
  docker_memory_bytes: 8e9,
  disk_free_bytes: 1e9,
  disk_usage: {
    at: '2026-01-01T00:00:00.000Z',
    data: {
      store_bytes: 1e6,
      logs_bytes: 3e6,
      backups_bytes: 0,
      uploads_bytes: 2e6,
      checkouts_bytes: 0,
    },
    docker: {
      images_bytes: 5e9,
      containers_bytes: 6e6,
      volumes_bytes: 7e9,
      build_cache_bytes: 8e9,
    },
  },
  uptime_seconds: 60,
  network_isolation: { enforced: true, reason: null },
}
