// Sends all responses and logs requests. Paths are logged without the query, which may contain a token.
import { gzipSync } from 'node:zlib'
import type { AuditEntry } from '../../../storage/audit.ts'
import type { Caller } from '../../account/callers.ts'
import { codeOf } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import { failurePage, withTheme } from '../pages/layout.ts'
import { toJson } from '../records/requester.ts'
import type { EventStream } from '../server/event-stream.ts'
import { createHeaders, type Headers } from '../server/headers.ts'
import type { HeaderList, Request, Response } from '../server/messages.ts'
import { StaticFile } from '../server/static-file.ts'
import type { SharedEntry } from './alike-entries.ts'
import { toProblem } from './problem.ts'
import {
  type AuditNotes,
  Download,
  Events,
  isApiPath,
  Page,
  Raw,
  Replayed,
  type Target,
  WebSocketUpgrade,
  WithHeaders,
} from './route.ts'
import type { LongLived, StreamGuard } from './stream-guard.ts'

export interface PendingRequest {
  request: Request
  response: Response
  target: Target | null
  requestId: string
  startedAt: number
  /** While false, the connection cannot be reused: its next request cannot be located. */
  isHeadChecked: boolean
  caller: Caller | null
  /** Its entry in the audit log until that is complete, and what its handler adds. */
  audited: { entry: AuditEntry; notes: AuditNotes; shared: SharedEntry | null } | null
}

/** The status that is logged if the client disconnects first. It is never sent. */
const clientClosedRequest = 499

interface ResponderParts {
  headers: Headers
  logger: Logger
  streams: StreamGuard
}

/** Creates the functions that send a result or an error. Neither throws. */
export function createResponders(version: string, logger: Logger, streams: StreamGuard) {
  const parts: ResponderParts = { headers: createHeaders(version), logger, streams }
  return {
    succeed: (pending: PendingRequest, result: unknown) => succeed(parts, pending, result),
    fail: (pending: PendingRequest, error: unknown) => fail(parts, pending, error),
  }
}

function succeed(parts: ResponderParts, pending: PendingRequest, result: unknown): void {
  const { request, response, target, requestId } = pending
  const { headers } = parts
  const status = target?.routes.get(request.method)?.status ?? 204
  if (result instanceof Events) {
    openLongLived(parts, pending, openStream(parts, pending, result), result.start)
    return
  }
  if (result instanceof WebSocketUpgrade) {
    openLongLived(parts, pending, response.upgrade(headers.empty(requestId)), result.start)
    return
  }
  if (result instanceof Download) {
    void sendFile(parts, pending, result)
    return
  }
  if (result instanceof StaticFile) {
    const { encoding, body } = result.bodyFor(request.headers.get('accept-encoding'))
    const more: HeaderList = encoding === null ? [] : [['Content-Encoding', encoding]]
    response.send(200, headers.unchanging(requestId, result.contentType, more), body)
  } else if (result instanceof Raw) {
    sendText(pending, result.status, headers.typed(requestId, result.contentType), result.body, result.gzip)
  } else if (result instanceof Page) {
    const page = withTheme(result.html, request.headers.get('cookie'))
    response.send(result.status, headers.page(requestId, result.headers), page)
  } else if (result instanceof WithHeaders) {
    sendJson(parts, pending, result.status ?? status, result.body, result.headers)
  } else if (result instanceof Replayed) {
    sendText(pending, status, headers.repeated(requestId), toJson(pending.caller, result.body))
  } else sendJson(parts, pending, status, result, [])
  const isOwn = result instanceof Raw || result instanceof Page || result instanceof WithHeaders
  logRequest(parts, pending, (isOwn ? result.status : undefined) ?? status)
}

function sendJson(
  { headers }: ResponderParts,
  pending: PendingRequest,
  status: number,
  body: unknown,
  more: HeaderList,
): void {
  const { caller, response, requestId } = pending
  if (status === 204) response.send(204, headers.empty(requestId, [...allowHeader(pending), ...more]))
  else sendText(pending, status, headers.json(requestId, more), toJson(caller, body))
}

/** Below it, compressing costs more than it saves. */
const minCompressedChars = 8 * 1024

/**
 * Compresses only for callers with a credential: for strangers it would cost the server more than them. A
 * copy that was compressed before goes to everyone.
 * Other sites cannot make a browser send its cookie, so they learn nothing from the size of a response.
 */
function sendText(
  { caller, request, response }: PendingRequest,
  status: number,
  list: HeaderList,
  text: string,
  gzip: Buffer | null = null,
): void {
  const isAllowed = caller !== null || gzip !== null
  const accepted = isAllowed ? (request.headers.get('accept-encoding') ?? '') : ''
  if (text.length < minCompressedChars || !/\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/.test(accepted)) {
    response.send(status, list, text)
    return
  }
  const encoded = [...list, ['Content-Encoding', 'gzip'], ['Vary', 'Accept-Encoding']] as const
  response.send(status, encoded, gzip ?? gzipSync(text, { level: 1 }))
}

function openStream(
  { headers }: ResponderParts,
  { response, requestId }: PendingRequest,
  { fileName }: Events,
): EventStream {
  if (fileName === null) return response.stream(headers.stream(requestId))
  const file = headers.typed(requestId, 'text/plain; charset=utf-8', [attachment(fileName)])
  return response.stream(file, true)
}

function attachment(fileName: string): [string, string] {
  return ['Content-Disposition', `attachment; filename="${fileName}"`]
}

function openLongLived<Opened extends LongLived>(
  parts: ResponderParts,
  pending: PendingRequest,
  opened: Opened,
  start: (opened: Opened) => void,
): void {
  const { caller, request, requestId, target } = pending
  opened.onClose(() => logRequest(parts, pending, target!.routes.get(request.method)!.status))
  if (caller) parts.streams.admit(caller, opened)
  try {
    start(opened)
  } catch (error) {
    parts.logger.error({ err: error, request_id: requestId }, 'a stream failed')
    opened.end()
  }
}

async function sendFile(parts: ResponderParts, pending: PendingRequest, download: Download): Promise<void> {
  const { caller, requestId, response } = pending
  const { source, sizeBytes, fileName, content } = download
  const headers = parts.headers.typed(requestId, 'application/octet-stream', [attachment(fileName)])
  const stream = response.startDownload(headers, sizeBytes)
  if (caller) parts.streams.admit(caller, stream)
  try {
    for await (const piece of content) await stream.write(piece)
    stream.finish()
  } catch (error) {
    if (codeOf(error) !== 'client_left') parts.logger.error({ err: error, source }, 'a file cannot be sent')
  }
  // Closes the connection if the file was truncated while it was read.
  stream.end()
  logRequest(parts, pending, 200)
}

function fail(parts: ResponderParts, pending: PendingRequest, error: unknown): void {
  const { request, requestId, response } = pending
  if (codeOf(error) === 'client_left') {
    logRequest(parts, pending, clientClosedRequest)
    return
  }
  const { body, headers: more } = toProblem(error, requestId)
  const { status } = body
  if (status === 500) parts.logger.error({ err: error, request_id: requestId }, 'a request failed')
  const all = [...more, ...(status === 405 ? allowHeader(pending) : [])]
  const headers = parts.headers.typed(requestId, 'application/problem+json', all)
  // Closing while the client still sends would lose the response, so the rest of the body is discarded.
  const isLast = !pending.isHeadChecked
  if (wantsHtml(pending)) {
    const page = withTheme(failurePage(body), request.headers.get('cookie'))
    response.send(status, parts.headers.page(requestId, all), page, isLast)
  } else response.send(status, headers, JSON.stringify(body), isLast)
  logRequest(parts, pending, status)
}

function wantsHtml({ request, target }: PendingRequest): boolean {
  const isForPeople = target ? target.isPage : !isApiPath(request.path)
  return isForPeople && (request.headers.get('accept')?.includes('text/html') ?? false)
}

function allowHeader({ request, target }: PendingRequest): [string, string][] {
  return target && !target.routes.has(request.method) ? [['Allow', target.allow]] : []
}

function logRequest(
  { logger }: ResponderParts,
  { request, requestId, startedAt }: PendingRequest,
  status: number,
): void {
  const { method, path } = request
  const isQuiet = status < 400 && (method === 'GET' || method === 'HEAD')
  const ms = Math.round((performance.now() - startedAt) * 10) / 10
  logger[isQuiet ? 'debug' : 'info']({ method, path, status, ms, request_id: requestId }, 'request')
}
