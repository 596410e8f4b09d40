// Sends answers and says in the log what was asked. Everything a client ever gets goes through here.
// Mind: the log has the path without its query, which may hold a token.
import { codeOf } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { createHeaders, type Headers } from './headers.ts'
import { toProblem } from './problem.ts'
import { Events, Raw, Repeated, type Target } from './route.ts'
import type { Request, Response } from './server.ts'

/** One request on its way to an answer. */
export interface Visit {
  request: Request
  response: Response
  target: Target | null
  requestId: string
  startedAt: number
  /** Until then nobody knows where the connection's next request would begin. */
  isHeadChecked: boolean
}

/** What the log says of a request that nobody waits for any more; it is never sent. */
const clientLeft = 499

interface AnswerParts {
  headers: Headers
  logger: Logger
}

/** Makes the two ways a request ends. Neither throws. */
export function createAnswers(version: string, logger: Logger) {
  const parts: AnswerParts = { headers: createHeaders(version), logger }
  return {
    succeed: (visit: Visit, result: unknown) => succeed(parts, visit, result),
    fail: (visit: Visit, error: unknown) => fail(parts, visit, error),
  }
}

function succeed(parts: AnswerParts, visit: Visit, result: unknown): void {
  const { request, response, target, requestId } = visit
  const { headers } = parts
  const status = target?.routes.get(request.method)?.status ?? 204
  if (result instanceof Events) {
    stream(parts, visit, result)
    return
  }
  if (result instanceof Raw) {
    response.send(result.status, headers.typed(requestId, result.contentType), result.body)
  } else if (status === 204) response.send(204, headers.empty(requestId, allowOf(visit)))
  else if (result instanceof Repeated) {
    response.send(status, headers.repeated(requestId), JSON.stringify(result.answer))
  } else response.send(status, headers.json(requestId), JSON.stringify(result))
  report(parts, visit, result instanceof Raw ? result.status : status)
}

function stream(parts: AnswerParts, visit: Visit, { start }: Events): void {
  const { requestId, response } = visit
  const opened = response.stream(parts.headers.stream(requestId))
  opened.onClose(() => report(parts, visit, 200))
  try {
    start(opened)
  } catch (error) {
    parts.logger.error({ err: error, request_id: requestId }, 'a stream failed')
    opened.end()
  }
}

function fail(parts: AnswerParts, visit: Visit, error: unknown): void {
  const { requestId, response } = visit
  if (codeOf(error) === 'client_left') {
    report(parts, visit, clientLeft)
    return
  }
  const { body, headers: more } = toProblem(error, requestId)
  const { status } = body
  if (status === 500) parts.logger.error({ err: error, request_id: requestId }, 'a request failed')
  const all = [...more, ...(status === 405 ? allowOf(visit) : [])]
  const headers = parts.headers.typed(requestId, 'application/problem+json', all)
  // A client that still sends would lose its answer to a close: what comes of its body is dropped instead.
  response.send(status, headers, JSON.stringify(body), !visit.isHeadChecked)
  report(parts, visit, status)
}

/** `Allow`, where the method is not one of the path's. */
function allowOf({ request, target }: Visit): [string, string][] {
  return target && !target.routes.has(request.method) ? [['Allow', target.allow]] : []
}

/** Reads that went well are told only to who debugs. */
function report({ logger }: AnswerParts, { request, requestId, startedAt }: Visit, status: number): void {
  const { method, path } = request
  const isQuiet = status < 400 && (method === 'GET' || method === 'HEAD')
  const ms = Math.round((performance.now() - startedAt) * 10) / 10
  logger[isQuiet ? 'debug' : 'info']({ method, path, status, ms, request_id: requestId }, 'request')
}
