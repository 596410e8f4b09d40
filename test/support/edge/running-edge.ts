// A real HAProxy, driven as the daemon drives it.
import { createServer, type IncomingHttpHeaders, type RequestListener, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { Driver } from '../../../src/edge/driver.ts'
import { type EdgeFiles, openEdgeFiles } from '../../../src/edge/files.ts'
import type { BaseFrame, Frame } from '../../../src/edge/frame.ts'
import { type EdgeProcess, openHostProcess, workerUser } from '../../../src/edge/host-process.ts'
import { noMaps, type Routes } from '../../../src/edge/routes.ts'
import { openRuntime, type Runtime } from '../../../src/edge/runtime.ts'
import { temporaryDirectory } from '../system/directory.ts'
import { edgeArgs, portOf } from './edge.ts'

export interface RunningEdge {
  files: EdgeFiles
  frame: BaseFrame
  driver: Driver
  process: EdgeProcess
  /** The runtime socket. */
  admin: Runtime
  /** Sends a request over HTTP for that host. */
  ask(host: string, path?: string, options?: AskOptions): Promise<EdgeAnswer>
}

interface AskOptions {
  method?: string
  headers?: Record<string, string>
  body?: string
}

export interface EdgeAnswer {
  status: number
  headers: IncomingHttpHeaders
  body: string
}

export const noRoutes: Routes = { pools: [], maps: noMaps(), certificates: [] }

/** Starts it without routes. */
export async function startEdge(t: TestContext, changed: Partial<Frame> = {}): Promise<RunningEdge> {
  const args = await edgeArgs('host')
  // Registered before the folder's removal: hooks run in the order of registration.
  let end: () => Promise<void> = async () => undefined
  t.after(() => end())
  const files = openEdgeFiles(temporaryDirectory(t))
  const frame: BaseFrame = {
    httpPort: portOf(args, '--http-port'),
    httpsPort: portOf(args, '--https-port'),
    hasIpv6: false,
    socketOwner: null,
    worker: workerUser(),
    trustedProxies: [],
    dashboard: null,
    limits: { connections: 20_000, connectionsPerAddress: 10_000, requestsPerAddress: 100_000 },
    ownHost: 'own.invalid',
    pools: 4,
    ...changed,
  }
  const driver = new Driver(files, frame)
  const process = openHostProcess(files)
  end = () => process.stop()
  await driver.render(noRoutes)
  await process.ensure(new AbortController().signal)
  return {
    files,
    frame,
    driver,
    process,
    admin: openRuntime(files.adminSocket),
    ask: requestAt(frame.httpPort),
  }
}

export function requestAt(port: number) {
  return (host: string, path = '/', { method = 'GET', headers = {}, body }: AskOptions = {}) =>
    new Promise<EdgeAnswer>((resolve, reject) => {
      const options = { port, path, method, headers: { host, ...headers }, agent: false as const }
      const asking = request(options, (response) => {
        const { statusCode: status = 0 } = response
        text(response).then((body) => resolve({ status, headers: response.headers, body }), reject)
      })
      asking.once('error', reject)
      asking.end(body)
    })
}

/** An upstream on loopback; returns its port. */
export async function serveUpstream(t: TestContext, listener: RequestListener): Promise<number> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}
