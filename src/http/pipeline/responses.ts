// Sends responses and logs requests. All output to clients goes through this file. The log has the path
// without its query, which may contain a token.
import { createReadStream } from 'node:fs'
import type { Caller } from '../../account/callers.ts'
import { codeOf } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import { failurePage } from '../pages/failure.ts'
import { toJson } from '../records/by.ts'
import type { EventStream } from '../server/event-stream.ts'
import { createHeaders, type Headers } from '../server/headers.ts'
import type { HeaderList, Request, Response } from '../server/messages.ts'
import { toProblem } from './problem.ts'
import { Conversation, Download, Events, isBelowApi, Page, Raw, Repeated, WithHeaders } from './route.ts'
import type { StreamGuard } from './stream-guard.ts'
import type { Target } from './target.ts'

/** One request on its way to an answer. */
export interface Visit {
  request: Request
  response: Response
  target: Target | null
  requestId: string
  startedAt: number
  /** Until then, the start of the next request on the connection is unknown. */
  isHeadChecked: boolean
  caller: Caller | null
}

/** The logged status of a request whose client left. It is never sent. */
const clientLeft = 499

interface AnswerParts {
  headers: Headers
  logger: Logger
  streams: StreamGuard
}

/** Makes the two ways a request ends. Neither throws. */
export function createAnswers(version: string, logger: Logger, streams: StreamGuard) {
  const parts: AnswerParts = { headers: createHeaders(version), logger, streams }
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
    goOn(parts, visit, response.stream(headers.stream(requestId)), result.start)
    return
  }
  if (result instanceof Conversation) {
    goOn(parts, visit, response.upgrade(headers.empty(requestId)), result.start)
    return
  }
  if (result instanceof Download) {
    void pour(parts, visit, result)
    return
  }
  if (result instanceof Raw) {
    response.send(result.status, headers.typed(requestId, result.contentType), result.body)
  } else if (result instanceof Page) {
    response.send(result.status, headers.page(requestId, result.headers), result.html)
  } else if (result instanceof WithHeaders) sendJson(parts, visit, status, result.answer, result.headers)
  else if (result instanceof Repeated) {
    response.send(status, headers.repeated(requestId), toJson(visit.caller, result.answer))
  } else sendJson(parts, visit, status, result, [])
  report(parts, visit, result instanceof Raw || result instanceof Page ? result.status : status)
}

function sendJson(
  { headers }: AnswerParts,
  visit: Visit,
  status: number,
  answer: unknown,
  more: HeaderList,
): void {
  const { caller, response, requestId } = visit
  if (status === 204) response.send(204, headers.empty(requestId, [...allowOf(visit), ...more]))
  else response.send(status, headers.json(requestId, more), toJson(caller, answer))
}

type Ongoing = Pick<EventStream, 'end' | 'onClose'>

function goOn<Opened extends Ongoing>(
  parts: AnswerParts,
  visit: Visit,
  opened: Opened,
  start: (opened: Opened) => void,
): void {
  const { caller, request, requestId, target } = visit
  opened.onClose(() => report(parts, visit, target!.routes.get(request.method)!.status))
  if (caller) parts.streams.admit(caller, opened)
  try {
    start(opened)
  } catch (error) {
    parts.logger.error({ err: error, request_id: requestId }, 'a stream failed')
    opened.end()
  }
}

async function pour(parts: AnswerParts, visit: Visit, download: Download): Promise<void> {
  const { caller, requestId, response } = visit
  const { path, sizeBytes, fileName } = download
  const disposition = ['Content-Disposition', `attachment; filename="${fileName}"`] as const
  const headers = parts.headers.typed(requestId, 'application/octet-stream', [disposition])
  const outflow = response.pour(headers, sizeBytes)
  if (caller) parts.streams.admit(caller, outflow)
  try {
    for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) await outflow.write(piece)
  } catch (error) {
    if (codeOf(error) !== 'client_left') parts.logger.error({ err: error, path }, 'a file cannot be sent')
  }
  // A file that was truncated while it was read is incomplete.
  outflow.end()
  report(parts, visit, 200)
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
  const isLast = !visit.isHeadChecked
  if (wantsPage(visit)) response.send(status, parts.headers.page(requestId, all), failurePage(body), isLast)
  else response.send(status, headers, JSON.stringify(body), isLast)
  report(parts, visit, status)
}

/** A browser that a user looks at, outside of the API. */
function wantsPage({ request, target }: Visit): boolean {
  const isForPeople = target ? target.isPage : !isBelowApi(request.path)
  return isForPeople && (request.headers.get('accept')?.includes('text/html') ?? false)
}

/** `Allow`, where the method is not one of the path's. */
function allowOf({ request, target }: Visit): [string, string][] {
  return target && !target.routes.has(request.method) ? [['Allow', target.allow]] : []
}

/** Successful reads are logged at the debug level only. */
function report({ logger }: AnswerParts, { request, requestId, startedAt }: Visit, status: number): void {
  const { method, path } = request
  const isQuiet = status < 400 && (method === 'GET' || method === 'HEAD')
  const ms = Math.round((performance.now() - startedAt) * 10) / 10
  logger[isQuiet ? 'debug' : 'info']({ method, path, status, ms, request_id: requestId }, 'request')
}
