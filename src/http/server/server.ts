// The only file that loads uWebSockets.js. By default, uWS closes unmatched requests without a response, and
// lets a second process listen on the same port.
import type * as Uws from 'uWebSockets.js'
import { createRequire } from 'node:module'
import { Failure } from '../../errors.ts'
import {
  createInFlight,
  Exchange,
  type InFlight,
  type SocketData,
  type UpgradeContext,
  waitUntilIdle,
} from './exchange.ts'
import type { Request, Response } from './messages.ts'
import { webSocketLimits } from './web-socket.ts'

// uWS reads this when it is loaded, so it must not be imported statically.
process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= '16384'
const uws: typeof Uws = createRequire(import.meta.url)('uWebSockets.js')

interface ServerOptions<Target> {
  host: string
  port: number
  /** Patterns such as `/api/v1/services/{id}`, with what to hand to `listener` when one matches. */
  targets: ReadonlyMap<string, Target>
  socketPaths?: ReadonlySet<string>
  /** Called for every request, with null when no pattern matches. Must not throw. */
  listener(target: Target | null, request: Request, response: Response): void
}

export interface Server {
  readonly port: number
  /** Stops listening, waits for open requests up to the deadline, then ends streams and connections. */
  stop(deadlineMs: number): Promise<void>
}

/** Port 0 selects a free port. Throws `address_in_use` if the address cannot be bound. */
export function openServer<Target>(options: ServerOptions<Target>): Promise<Server> {
  const app = uws.App()
  const inFlight = createInFlight()
  const addPattern = (pattern: string, target: Target | null) => {
    const paramCount = pattern.split('{').length - 1
    const path = pattern.replace(/\{(\w+)\}/g, ':$1')
    const handleRequest = (res: Uws.HttpResponse, req: Uws.HttpRequest, upgradeContext: UpgradeContext) => {
      const exchange = new Exchange(res, req, paramCount, inFlight, upgradeContext)
      options.listener(target, exchange, exchange)
      exchange.inCallback = false
    }
    app.any(path, (res, req) => handleRequest(res, req, null))
    if (options.socketPaths?.has(pattern))
      app.ws<SocketData>(path, { ...socketBehavior, upgrade: handleRequest })
  }
  for (const [pattern, target] of options.targets) addPattern(pattern, target)
  // Without a match uWS closes the connection without a response.
  addPattern('/*', null)
  return new Promise((resolve, reject) => {
    const listening = (socket: Uws.us_listen_socket | false) => {
      if (!socket)
        return reject(
          new Failure(
            'address_in_use',
            `cannot listen on ${options.host}:${options.port}: it is in use, or not an address of this host`,
            'set --listen to another address',
          ),
        )
      const port = uws.us_socket_local_port(socket)
      resolve({ port, stop: (deadlineMs) => stopServer(app, socket, inFlight, deadlineMs) })
    }
    ;(app as unknown as ExclusiveApp).listen(options.host, options.port, exclusivePort, listening)
  })
}

/** The overload of `listen` with a host and options, which is missing in uWS's types. */
interface ExclusiveApp {
  listen(
    host: string,
    port: number,
    options: number,
    done: (socket: Uws.us_listen_socket | false) => void,
  ): void
}
/** LIBUS_LISTEN_EXCLUSIVE_PORT: without it, a second daemon would silently share the port. */
const exclusivePort = 1

const socketBehavior: Uws.WebSocketBehavior<SocketData> = {
  ...webSocketLimits,
  compression: uws.DISABLED,
  sendPingsAutomatically: true,
  open: (uwsSocket) => uwsSocket.getUserData().socket.opened(uwsSocket),
  message: (uwsSocket, message, isBinary) => uwsSocket.getUserData().socket.received(message, isBinary),
  drain: (uwsSocket) => uwsSocket.getUserData().socket.drained(),
  close: (uwsSocket) => uwsSocket.getUserData().socket.closed(),
}

async function stopServer(
  app: Uws.TemplatedApp,
  socket: Uws.us_listen_socket,
  inFlight: InFlight,
  deadlineMs: number,
) {
  if (inFlight.stopping) return
  inFlight.stopping = true
  uws.us_listen_socket_close(socket)
  await waitUntilIdle(inFlight, deadlineMs)
  for (const stream of [...inFlight.streams]) stream.end()
  app.close()
}
