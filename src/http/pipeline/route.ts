// The definition of a route. Schemas are built when the module is loaded, never per request.
import type { z } from 'zod'
import type { TokenRole } from '../../../storage/access/hashed-tokens.ts'
import type { AuditEntry } from '../../../storage/audit.ts'
import type { Caller } from '../../account/callers.ts'
import type { Logger } from '../../logger.ts'
import type { Sink } from '../server/body.ts'
import type { EventStream } from '../server/event-stream.ts'
import type { HeaderList, Request } from '../server/messages.ts'
import type { StaticFile } from '../server/static-file.ts'
import type { WebSocket } from '../server/web-socket.ts'
import type { HttpContext } from './context.ts'
import type { StreamGuard } from './stream-guard.ts'

/** The prefix of the API. Only routes for monitoring and pages are outside of it. */
const v1 = '/api/v1'

/** Whether the path belongs to the API, where even unknown paths need a credential. */
export function isApiPath(path: string): boolean {
  return path === '/api' || path.startsWith('/api/')
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Call<Params = unknown, Query = unknown, Body = unknown> {
  context: HttpContext
  params: Params
  query: Query
  body: Body
  caller: Caller | null
  /** For values that are not parameters, such as the peer address and cookies. */
  request: Pick<Request, 'address' | 'headers' | 'method' | 'path' | 'query'>
  /** The open streams. Call `check` after a credential was revoked. */
  streams: StreamGuard
  /** From the `Idempotency-Key`: pass it to the call that commits the change, so a repetition is detected. */
  eventId: string | undefined
  lastEventId: number | undefined
  log: Logger
  requestId: string
  /** Resolves when the audit log has its entry. Await it before an effect that is not a commit. */
  recorded: Promise<void>
  /** Adds to the entry in the audit log, as long as the request or its connection is open. */
  note(notes: AuditNotes): void
}

/** What a handler knows better than the pipeline. */
export type AuditNotes = Partial<Pick<AuditEntry, 'code' | 'exit_code' | 'subject'>>

export type CallById<Query = unknown, Body = unknown> = Call<{ id: string }, Query, Body>

/** The `body` of a call to an upload route. It is read only by `receive` or `collect`. */
export interface Upload {
  /** The Content-Length; null for a chunked body. */
  contentLength: number | null
  /**
   * Streams the body into the sink and resolves with its size. Must be called before the handler's first
   * await. Throws `payload_too_large`, `client_left`, `unauthorized` if the credential ended while the body
   * arrived, and the errors of the sink.
   */
  receive(sink: Sink): Promise<number>
  /**
   * Reads the whole body and hands it to `use`, in turn with those of other clients, with the name of the
   * client. Must be called before the handler's first await. Throws `payload_too_large`, `client_left`,
   * `slow_down`, and what `use` throws.
   */
  collect<T>(use: (bytes: Buffer, client: string) => T | Promise<T>): Promise<T>
}

interface UploadDefinition {
  /** Without parameters. A body without a Content-Type is accepted too. */
  mediaTypes: readonly string[]
  limitBytes: number
  description: string
}

/**
 * `service`: `{id}` names a service. `record`: `{id}` names a record that has a `service_id`. `filtered`: the
 * handler omits what belongs to other services. `server`: the response contains nothing of a service.
 */
export type ServiceScope = 'service' | 'record' | 'filtered' | 'server'

interface Definition<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  ResponseBody extends z.ZodType,
> {
  method: Method
  /** With parameters in braces: `/api/v1/services/{id}`. */
  path: string
  /** `any` (a token or a session) by default. `public` ignores credentials. */
  credential?: 'public' | 'any' | 'session'
  /** The minimum role of a token; `admin` by default. Sessions have all rights. */
  role?: TokenRole
  /** The access of tokens that are limited to services; by default they have none. */
  scope?: ServiceScope
  /** For public routes that sign in or out: rejects requests from pages of other sites. */
  checksOrigin?: true
  /** An HTML page: takes a form instead of JSON, reports errors as pages, is not in the OpenAPI document. */
  isPage?: true
  /** True by default: a POST that repeats its `Idempotency-Key` gets the first response. */
  acceptsIdempotencyKey?: false
  /** Reads the response to a repeated request by the id of the stored record; the default is that record. */
  replay?: (context: HttpContext, id: string) => unknown
  /** One line; details go into `description`. */
  summary: string
  description?: string
  params?: Params
  query?: Query
  body?: Body
  /** By default 1 MiB, and 16 KiB without a credential. */
  bodyLimitBytes?: number
  /** For a POST that needs no body: one within the limit is accepted, and dropped. */
  ignoresBody?: true
  /** For bodies that are large; the handler gets an `Upload`. */
  upload?: UploadDefinition
  /** `text` is one line, `bytes` a file. A `socket` has the origin checks of a change. Absent: no content. */
  response?: ResponseBody | 'stream' | 'text' | 'bytes' | 'socket'
  /** For a `stream`: the schema of an event, as an object of `event`, `id` and `data`. */
  events?: z.ZodType
  /** A `stream` that is also a text file, with `Accept: text/plain`. */
  isAlsoText?: true
  /** By default 200, 204 for an empty response, or 101 for a WebSocket. */
  status?: 101 | 200 | 201 | 202 | 204
  /** Further statuses with the same response schema, and their meanings. */
  otherStatuses?: Readonly<Record<number, string>>
  setsCookie?: true
  /** Whether the audit log has it: by default every method but GET. */
  isAudited?: boolean
  /** For a public route: which of its successes go into the audit log of a client without a session. */
  auditsVisitor?: (result: unknown) => boolean
  /** Error codes in addition to those that the rest of the definition implies. */
  problems?: readonly string[]
  handler(call: Call<z.output<Params>, z.output<Query>, z.output<Body>>): Reply<ResponseBody>
}

type Reply<ResponseBody extends z.ZodType> =
  | Result<z.output<ResponseBody>>
  | Promise<Result<z.output<ResponseBody>>>
type Result<Value> =
  | Value
  | Raw
  | Page
  | StaticFile
  | WithHeaders<Value>
  | Events
  | WebSocketUpgrade
  | Download
  | undefined

/** A route in the table, with its types erased. */
export interface Route extends Omit<Definition<z.ZodType, z.ZodType, z.ZodType, z.ZodType>, 'handler'> {
  credential: 'public' | 'any' | 'session'
  role: TokenRole
  status: 101 | 200 | 201 | 202 | 204
  tag: string
  handler(call: Call): unknown
}

export class Raw {
  constructor(
    readonly status: number,
    readonly contentType: string,
    readonly body: string,
    /** For a text that is made once: also clients without a credential get it compressed. */
    readonly gzip: Buffer | null = null,
  ) {}
}

export class Page {
  constructor(
    readonly status: number,
    readonly html: string,
    readonly headers: HeaderList = [],
  ) {}
}

/** A JSON response with additional headers, or with one of the route's other statuses. */
export class WithHeaders<ResponseBody = unknown> {
  /** Without a status, the response has that of the route. */
  constructor(
    readonly body: ResponseBody,
    readonly headers: HeaderList,
    readonly status?: number,
  ) {}
}

/** The response to the first request with the same `Idempotency-Key`. */
export class Replayed {
  constructor(readonly body: unknown) {}
}

/** An event stream, or a text file of unknown length. `start` is called with the open stream. */
export class Events {
  constructor(
    readonly start: (stream: EventStream) => void,
    readonly fileName: string | null = null,
  ) {}
}

/** A WebSocket. `start` is called even if the client has already disconnected. */
export class WebSocketUpgrade {
  constructor(readonly start: (socket: WebSocket) => void) {}
}

export class Download {
  /** `source` is for the log. The size is null if it is not known. */
  constructor(
    readonly source: string,
    readonly sizeBytes: number | null,
    readonly fileName: string,
    readonly content: AsyncIterable<Uint8Array>,
  ) {}
}

/** Checks the types of a definition, then erases them. */
export function route<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  ResponseBody extends z.ZodType,
>(definition: Definition<Params, Query, Body, ResponseBody>): Route {
  const { response } = definition
  const status = response === 'socket' ? 101 : response ? 200 : 204
  return { credential: 'any', role: 'admin', status, tag: '', ...definition }
}

function withMethod(method: Method) {
  return <
    Params extends z.ZodType,
    Query extends z.ZodType,
    Body extends z.ZodType,
    ResponseBody extends z.ZodType,
  >(
    path: string,
    definition: Omit<Definition<Params, Query, Body, ResponseBody>, 'method' | 'path'>,
  ): Route => route({ ...definition, method, path: `${v1}${path}` })
}

// Routes of the API, below its prefix: `get('/services/{id}', { … })`.
export const get = withMethod('GET')
export const post = withMethod('POST')
export const put = withMethod('PUT')
export const patch = withMethod('PATCH')
export const del = withMethod('DELETE')

export function tagged(tag: string, routes: readonly Route[]): Route[] {
  return routes.map((route) => ({ ...route, tag }))
}

export interface Target {
  path: string
  paramNames: readonly string[]
  routes: ReadonlyMap<string, Route>
  allow: string
  isPublic: boolean
  isPage: boolean
}

/** GET also handles HEAD, unless the response is a stream or a file. */
export function supportsHead({ method, response }: Route): boolean {
  return method === 'GET' && response !== 'stream' && response !== 'bytes'
}

/** uWS matches paths, and the dispatcher methods. */
export function groupByPath(routes: readonly Route[]): Map<string, Target> {
  const targets = new Map<string, Target>()
  for (const path of new Set(routes.map((route) => route.path))) {
    const here = routes.filter((route) => route.path === path)
    const byMethod = new Map<string, Route>(here.map((route) => [route.method, route]))
    const get = byMethod.get('GET')
    if (get && supportsHead(get)) byMethod.set('HEAD', get)
    const allow = [...byMethod.keys(), 'OPTIONS'].join(', ')
    const paramNames = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
    const isPublic = here.every((route) => route.credential === 'public')
    const isPage = here.some((route) => route.isPage)
    targets.set(path, { path, paramNames, routes: byMethod, allow, isPublic, isPage })
  }
  return targets
}
