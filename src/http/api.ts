// Puts the HTTP layer together: the route table behind a server.
import type { Logger } from '../logger.ts'
import type { HttpContext } from './context.ts'
import { createDispatcher } from './dispatch.ts'
import { targetsOf } from './route.ts'
import { routes } from './routes.ts'
import { openServer, type Server } from './server.ts'

/** Serves the API. Port 0 is any free one; throws `address_in_use`. */
export function openApi(
  context: HttpContext,
  options: { host: string; port: number; logger: Logger },
): Promise<Server> {
  const { host, port, logger } = options
  return openServer({ host, port, targets: targetsOf(routes), listener: createDispatcher(context, logger) })
}
