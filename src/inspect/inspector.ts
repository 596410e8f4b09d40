// Shows the actors to viewers of @statelyai/inspect, over WebSockets on a port of their own. Read-only.
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import type { AnyStateMachine } from 'xstate'
import { isLoopbackHost } from '../address-classes.ts'
import { Failure } from '../errors.ts'
import type { Supervisor } from '../supervisor/supervisor.ts'
import { definitionOf } from './messages.ts'
import { Viewer } from './viewer.ts'

interface InspectorOptions {
  /** A loopback address. */
  host: string
  port: number
  /** Origins of viewers in a browser, in addition to those on this machine. */
  origins: string[]
  isServerToken(token: string): boolean
  machines: Record<string, { machine: AnyStateMachine }>
  actors: Pick<Supervisor, 'inspect' | 'running'>
}

export interface Inspector {
  port: number
  stop(): Promise<void>
}

/** Viewers send nothing. */
const maxPayloadBytes = 1024
const refused = 1008

/** Throws `address_in_use` if the address cannot be bound. */
export async function openInspector(options: InspectorOptions): Promise<Inspector> {
  const { host, port, machines, actors } = options
  const server = createServer((_, response) => response.writeHead(426).end('this is a WebSocket'))
  const sockets = new WebSocketServer({
    server,
    maxPayload: maxPayloadBytes,
    verifyClient: ({ req }, decide) => {
      const status = refusalOf(req, options)
      decide(status === null, status ?? undefined)
    },
  })
  sockets.on('connection', (socket) => {
    const viewer = new Viewer(socket, (kind) => definitionOf(machines[kind]!.machine))
    const end = actors.inspect((seen) => viewer.show(seen))
    socket.on('close', end)
    socket.on('message', () => socket.close(refused, 'viewers only receive'))
    // Its close follows.
    socket.on('error', () => undefined)
    void viewer.list(actors.running())
  })
  server.listen(port, host)
  await once(sockets, 'listening').catch((error: Error) => {
    throw new Failure('address_in_use', `cannot listen on ${host}:${port}: ${error.message}`)
  })
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      for (const socket of sockets.clients) socket.terminate()
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** The status of a refused request: pages of other sites, also through a name of theirs, and strangers. */
function refusalOf(
  { url = '/', headers }: IncomingMessage,
  { origins, isServerToken }: Pick<InspectorOptions, 'origins' | 'isServerToken'>,
): number | null {
  const { origin } = headers
  const isOwnHost = isLoopbackHost(hostIn(`http://${headers.host}`))
  const isOwnOrigin = origin === undefined || origins.includes(origin) || isLoopbackHost(hostIn(origin))
  if (!isOwnHost || !isOwnOrigin) return 403
  const [scheme = '', token = ''] = (headers.authorization ?? '').split(' ')
  const query = new URLSearchParams(url.split('?')[1])
  const given = scheme.toLowerCase() === 'bearer' ? token : query.get('access_token')
  return given !== null && isServerToken(given) ? null : 401
}

/** Empty for what is not an address. */
function hostIn(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).hostname : ''
}
