// Starts the HTTP server with the route table.
import type { Logger } from '../../logger.ts'
import { openServer, type Server } from '../server/server.ts'
import type { HttpContext } from './context.ts'
import { createDispatcher } from './dispatch.ts'
import { groupByPath, type Route } from './route.ts'
import { routes } from './routes.ts'
import { createStreamGuard } from './stream-guard.ts'

/** Serves the API, or another route table. Port 0 selects a free port. Throws `address_in_use`. */
export async function openApi(
  context: HttpContext,
  options: { host: string; port: number; logger: Logger; table?: readonly Route[] },
): Promise<Server> {
  const { host, port, logger, table = routes } = options
  const streams = createStreamGuard(context.callers.isValid)
  const listener = createDispatcher(context, logger, streams)
  const socketPaths = new Set(table.filter(({ response }) => response === 'socket').map(({ path }) => path))
  const server = await openServer({ host, port, targets: groupByPath(table), socketPaths, listener })
  const stop = (deadlineMs: number) => {
    streams.stop()
    return server.stop(deadlineMs)
  }
  return { port: server.port, stop }
}
