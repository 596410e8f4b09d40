// The client of the server. A redirect is never followed: the credential is meant for the named address.
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { Why } from '../../api/parts/failure.ts'
import { type SettingName, serviceSettings } from '../../domain/service-settings.ts'
import { readText } from '../bounded-text.ts'
import { CliFailure, exitCodes, interruption } from '../failure.ts'

export type Query = Record<string, string | number | boolean | undefined>

interface CallOptions {
  body?: unknown
  query?: Query
  signal?: AbortSignal
}

interface OpenOptions {
  body?: string | Readable
  query?: Query
  headers?: Record<string, string>
  signal?: AbortSignal
  /** How error messages name a field of the body; by default as the API does. */
  nameOf?: (path: string) => string
}

export interface Client {
  /** Without a trailing slash. */
  readonly url: string
  /** A JSON call below /api/v1. Throws CliFailure: exit 3 for 404, 4 for 401 and 403, 5 if unreachable. */
  call<T>(method: string, path: string, options?: CallOptions): Promise<T>
  /** The open response, for streams and raw calls. Fails like `call`. */
  open(method: string, path: string, options?: OpenOptions): Promise<Response>
}

export interface ClientOptions {
  url: string
  token: string | undefined
  isAssumed?: boolean | undefined
  signal: AbortSignal
}

const bufferBytes = 256 * 1024
const maxMib = { answer: 64, refusal: 1 }

interface Problem {
  code?: string
  detail?: string
  hint?: string
  request_id?: string
  errors?: { path: string; message: string }[]
}

const exitCodeOfStatus: Record<number, number> = {
  401: exitCodes.refused,
  403: exitCodes.refused,
  404: exitCodes.notFound,
}

export function createClient({ url, token, isAssumed, signal }: ClientOptions): Client {
  async function open(method: string, path: string, options: OpenOptions = {}): Promise<Response> {
    const ended = options.signal ? AbortSignal.any([signal, options.signal]) : signal
    const request = {
      method,
      headers: {
        'accept-encoding': 'identity',
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...options.headers,
      },
      redirect: 'manual' as const,
      signal: ended,
      ...toRequestBody(options.body),
    }
    const response = await fetch(addressOf(url, path, options.query), request).catch((error: unknown) => {
      throw ended.aborted ? interruption() : unreachable(url, error, isAssumed)
    })
    if (response.status >= 300) throw await toFailure(url, response, options.nameOf)
    return response
  }

  async function call<T>(method: string, path: string, { body, ...options }: CallOptions = {}): Promise<T> {
    const sent =
      body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    const nameOf = (field: string) => fieldName(field, body)
    const response = await open(method, path, { ...options, ...sent, nameOf })
    return readJson<T>(response, { url, signal })
  }

  return { url, open, call }
}

/** The JSON of a response; undefined for an empty one. Throws CliFailure: exit 5 if it is incomplete. */
export async function readJson<T>(
  response: Response,
  { url, signal }: Pick<ClientOptions, 'url' | 'signal'>,
): Promise<T> {
  const text = await readBody(response).catch((error: unknown) => {
    if (error instanceof CliFailure) throw error
    throw signal.aborted ? interruption() : incompleteResponse(url)
  })
  if (text === '') return undefined as T
  try {
    return JSON.parse(text)
  } catch {
    throw notABerthServer(url, response.status)
  }
}

/** The text of a response. Throws CliFailure above 64 MiB, and the connection's errors. */
export function readBody(response: Response): Promise<string> {
  return readText(response, maxMib.answer)
}

/** The body of a response that is not text. Throws CliFailure: exit 5 if it is incomplete. */
export async function* piecesOf(
  { client, signal }: { client: Client; signal: AbortSignal },
  response: Response,
): AsyncGenerator<Buffer> {
  const pieces = (response.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
  const next = () =>
    pieces.next().catch(() => {
      throw signal.aborted ? interruption() : incompleteResponse(client.url)
    })
  try {
    for (let one = await next(); !one.done; one = await next())
      yield Buffer.from(one.value.buffer, one.value.byteOffset, one.value.byteLength)
  } finally {
    await pieces.return?.()
  }
}

/** `/services/shop`: an id works too. */
export function servicePath(name: string): string {
  return `/services/${encodeURIComponent(name)}`
}

export function deployPath(id: string): string {
  return `/deploys/${encodeURIComponent(id)}`
}

export function jobPath(id: string): string {
  return `/jobs/${encodeURIComponent(id)}`
}

function toRequestBody(body: string | Readable | undefined) {
  if (!(body instanceof Readable)) return { body: body ?? null }
  // By default it counts chunks as bytes, and buffers gigabytes before it pauses the source.
  const strategy = new ByteLengthQueuingStrategy({ highWaterMark: bufferBytes })
  const stream = Readable.toWeb(body, { strategy }) as ReadableStream
  // Without these two options, fetch keeps a copy of the sent body for a possible retry.
  const once = { redirect: 'error', window: null } as const
  return { body: stream, duplex: 'half' as const, ...once }
}

export function addressOf(url: string, path: string, query: Query = {}): string {
  const search = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, String(value))
  const mark = search.size === 0 ? '' : path.includes('?') ? '&' : '?'
  return `${url}/api/v1${path}${mark}${search}`
}

export async function toFailure(
  url: string,
  response: Response,
  nameOf = (path: string) => path,
): Promise<CliFailure> {
  const { status } = response
  const location = response.headers.get('location')
  if (status < 400 && location) return redirected(url, location)
  const problem = parseProblem(await readText(response, maxMib.refusal).catch(() => ''))
  if (!problem) return notABerthServer(url, status)
  const isRefused = problem.code === 'unauthorized'
  const fields = (problem.errors ?? []).map(({ path, message }) => `${nameOf(path)}: ${message}`)
  const [{ path = '' } = {}] = problem.errors ?? []
  const said = problem.detail ?? `the server responded with ${status}`
  const detail = path !== '' && said.startsWith(`${path}: `) ? nameOf(path) + said.slice(path.length) : said
  return new CliFailure([detail, ...fields.filter((field) => !detail.includes(field))].join('\n'), {
    exitCode: exitCodeOfStatus[status] ?? exitCodes.failed,
    hint: isRefused ? `log in: berth login ${url}` : problem.hint,
    // What the server did wrong is in its log, by this id.
    requestId: status >= 500 ? problem.request_id : undefined,
    code: problem.code,
    retryAfterSeconds: Number(response.headers.get('retry-after')) || undefined,
  })
}

function parseProblem(text: string): Problem | null {
  try {
    const parsed = JSON.parse(text)
    return typeof parsed?.code === 'string' ? parsed : null
  } catch {
    return null
  }
}

export function incompleteResponse(url: string): CliFailure {
  return new CliFailure(`${url} closed the connection in the middle of a response`, {
    exitCode: exitCodes.unreachable,
  })
}

/** `error.cause` contains the reason. */
export function unreachable(url: string, error: unknown, isAssumed = false): CliFailure {
  const { cause } = error as { cause?: { code?: string; message?: string } }
  const reason = cause?.code ? (reasons[cause.code] ?? cause.code) : (cause?.message ?? String(error))
  return new CliFailure(`cannot reach the server at ${url}: ${reason}`, {
    exitCode: exitCodes.unreachable,
    hint: isAssumed
      ? 'log in to your server first: berth login URL'
      : 'is berthd running there? for another server: --server NAME or URL',
  })
}

const reasons: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'it closed the connection',
  UND_ERR_SOCKET: 'it closed the connection',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name cannot be resolved now',
  ETIMEDOUT: 'it does not respond',
  UND_ERR_CONNECT_TIMEOUT: 'it does not respond',
  UND_ERR_HEADERS_TIMEOUT: 'it does not respond',
  EPROTO: 'it does not speak https',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak https',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak https',
}

function redirected(url: string, location: string): CliFailure {
  const target = URL.canParse(location, url) ? new URL(location, url).origin : location
  const hint = isPlainUrl(target)
    ? `use that address: berth login ${target}`
    : 'use the address of the server itself'
  return new CliFailure(`${url} redirects to ${target}`, { hint })
}

/** True if a shell treats the URL as a plain word: users copy commands from hints. */
export function isPlainUrl(text: string): boolean {
  return /^https?:\/\/[\w.:[\]/-]+$/.test(text)
}

function notABerthServer(url: string, status: number): CliFailure {
  return new CliFailure(`${url} responded with ${status}, but not like a Berth server`, {
    hint: 'check the address: berth servers lists yours',
  })
}

/** The path of a record: `/deploys/dep-…`. */
export function fetchWhy({ client }: { client: Client }, path: string): Promise<Why> {
  return client.call<Why>('GET', `${path}/why`)
}

/** The server's limit for one page. */
export const maxPageSize = 500

export async function fetchNewest<One extends { id: string }>(
  client: Client,
  path: string,
  limit: number,
  most = maxPageSize,
): Promise<One[]> {
  const found: One[] = []
  while (true) {
    const pageSize = Math.min(most, limit - found.length)
    const before = found.at(-1)?.id
    const page = await client.call<One[]>('GET', path, { query: { limit: pageSize, before } })
    found.push(...page)
    if (page.length < pageSize || found.length >= limit) return found
  }
}

/** `path` is the server's, such as `set.0.value`; `body` is what was sent. */
export function fieldName(path: string, body: unknown): string {
  const [field = '', ...below] = path.split('.')
  const [index = ''] = below
  const value = own(body, field)
  if (field === 'set' || field === 'env') return String(own(own(value, index), 'key') ?? path)
  if (field === 'unset' || field === 'custom_domains') return String(own(value, index) ?? path)
  if (field === 'deploy_id' || field === 'backup_id') return String(value ?? path)
  if (field === 'build_args') return ['--build-arg', ...below].join(' ')
  if (field === 'timeout_seconds') return '--timeout'
  const flags = serviceSettings[field as SettingName]?.flag?.flags ?? `--${field.replaceAll('_', '-')}`
  const [flag = field] = flags.split(' ')
  return flag === `--${field}` ? path : flag
}

function own(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? value[key as keyof typeof value]
    : undefined
}
