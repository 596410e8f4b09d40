// The one door to the Docker engine, and the only file that knows dockerode. A change that timed out is
// unknown, not undone: the engine may still carry it out. Look before repeating it.
import { Agent } from 'node:http'
import { connect, type NetConnectOpts, type Socket } from 'node:net'
import { inspect } from 'node:util'
import Docker from 'dockerode'
import { abortable } from '../../async/abortable.ts'
import { withTimeout } from '../../async/with-timeout.ts'
import { Failure } from '../../errors.ts'
import { duration } from '../../quantities.ts'

export interface Engine {
  /** `unix:///path` or `tcp://host:port`. */
  host: string
  docker: Docker
  /** Runs one call under a bound. `run` gets a signal that gives the request up when the bound is reached. */
  call<T>(what: string, run: (signal: AbortSignal) => Promise<T>, options?: CallOptions): Promise<T>
  ping(): Promise<void>
  info(): Promise<EngineInfo>
  /** A second set of connections to the same engine; closing it leaves this one alone. */
  fork(): Engine
  /** Cuts every connection that is still open, streams included. */
  close(): void
}

export interface CallOptions {
  timeoutMs?: number
  signal?: AbortSignal | undefined
}

export interface EngineInfo {
  version: string
  cpus: number
  /** As `uname -m` says it. */
  architecture: string
  memoryBytes: number
  loggingDriver: string
  /** Its data directory; null for an engine that is reached over the network. */
  rootDir: string | null
}

const defaultTimeoutMs = 30_000
const pingTimeoutMs = 5_000
/** The newest API version these files were written against; an older engine's own version wins. */
const newestApiMinor = 47

/** `unix:///path` or `tcp://host:port`. Sends nothing. Calls throw `docker_unavailable` or `docker_error`. */
export function openEngine(host: string): Engine {
  const sockets = new Set<Socket>()
  const connection = { ...parseEngineHost(host), agent: trackingAgent(sockets) }
  const docker = new Docker(connection)
  let isNegotiated = false

  async function call<T>(what: string, run: (signal: AbortSignal) => Promise<T>, options: CallOptions = {}) {
    try {
      return await bounded(async (signal) => {
        if (!isNegotiated) await negotiateVersion(docker, signal)
        isNegotiated = true
        return run(signal)
      }, options)
    } catch (error) {
      options.signal?.throwIfAborted()
      const failure = toFailure(what, error, host)
      // An engine that comes back may be another version.
      if (failure.code === 'docker_unavailable') isNegotiated = false
      throw failure
    }
  }

  return {
    host,
    docker,
    call,
    ping: () =>
      call('ping', (signal) => withSignal(docker, docker.ping, signal), { timeoutMs: pingTimeoutMs }),
    info: async () => {
      const info = await call('info', (signal) => withSignal(docker, docker.info, signal))
      return toEngineInfo(info, host.startsWith('unix:'))
    },
    fork: () => openEngine(host),
    close: () => sockets.forEach((socket) => void socket.destroy()),
  }
}

/** A response with `status` is a success too: 304 for already done, 404 for already gone. */
export async function acceptStatus(status: number, change: Promise<unknown>): Promise<void> {
  try {
    await change
  } catch (error) {
    if (!hasStatus(error, status)) throw error
  }
}

/** Null for what the engine does not know. */
export async function orNull<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found
  } catch (error) {
    if (hasStatus(error, 404)) return null
    throw error
  }
}

export function hasStatus(error: unknown, status: number): boolean {
  return error instanceof Failure && statusOf(error.cause) === status
}

/** `what`: the request, `host`: the engine. Rethrows errors without an HTTP status or a system error code. */
export function toFailure(what: string, error: unknown, host = ''): Failure {
  if (error instanceof Failure) return error
  if (statusOf(error) !== null) return failureFrom('docker_error', refusalText(error), error)
  if (systemCodeOf(error) === null) throw error
  const atHost = host && ` at ${host}`
  const message = `Docker did not respond${atHost} (${what}): ${systemCodeOf(error)}`
  return failureFrom('docker_unavailable', message, error)
}

function failureFrom(code: string, message: string, cause: unknown): Failure {
  const failure = new Failure(code, message)
  failure.cause = cause
  return failure
}

async function bounded<T>(run: (signal: AbortSignal) => Promise<T>, options: CallOptions): Promise<T> {
  const { timeoutMs = defaultTimeoutMs, signal } = options
  signal?.throwIfAborted()
  const late = new Failure('docker_unavailable', `Docker did not respond within ${duration(timeoutMs)}`)
  return withTimeout(timeoutMs, signal, (bound) => abortable(run(bound), bound), late)
}

async function negotiateVersion(docker: Docker, signal: AbortSignal): Promise<void> {
  const setVersion = (version: string | undefined) => Object.assign(docker.modem, { version })
  setVersion(undefined)
  const { ApiVersion } = await withSignal(docker, docker.version, signal)
  const minor = Number(ApiVersion.split('.')[1])
  setVersion(`v1.${Math.min(minor, newestApiMinor)}`)
}

/** Calls a dockerode method with an abort signal that the method accepts but its type does not declare. */
export function withSignal<T>(
  docker: Docker,
  method: () => Promise<T>,
  abortSignal: AbortSignal,
): Promise<T> {
  const ask: (options: { abortSignal: AbortSignal }) => Promise<T> = method.bind(docker)
  return ask({ abortSignal })
}

// Every key is given, undefined ones too: dockerode fills gaps from DOCKER_* variables of the environment.
function parseEngineHost(host: string): Docker.DockerOptions {
  const url = URL.canParse(host) ? new URL(host) : null
  if (url?.protocol === 'unix:' && url.pathname !== '') {
    return {
      protocol: 'http',
      socketPath: url.pathname,
      host: undefined,
      port: undefined,
      timeout: undefined,
    }
  }
  if (url?.protocol === 'tcp:' && url.hostname !== '' && url.port !== '') {
    return { protocol: 'http', host: url.hostname, port: url.port, socketPath: undefined, timeout: undefined }
  }
  throw new Failure(
    'invalid_request',
    `the Docker host '${host}' is neither unix:///path nor tcp://host:port`,
  )
}

// A hijacked connection leaves the books of node's agent; these books keep it, so that close() is complete.
function trackingAgent(sockets: Set<Socket>): Agent {
  return Object.assign(new Agent(), {
    createConnection(options: NetConnectOpts): Socket {
      const socket = connect(options)
      sockets.add(socket)
      return socket.once('close', () => sockets.delete(socket))
    },
    // docker-modem writes out its options, with the agent and every open socket in it, for each request: 4 ms
    // of the processor a socket.
    [inspect.custom]: () => 'Agent',
  })
}

function toEngineInfo(info: Record<string, unknown>, isLocal: boolean): EngineInfo {
  return {
    version: String(info.ServerVersion),
    cpus: Number(info.NCPU),
    architecture: String(info.Architecture),
    memoryBytes: Number(info.MemTotal),
    loggingDriver: String(info.LoggingDriver),
    rootDir: isLocal && typeof info.DockerRootDir === 'string' ? info.DockerRootDir : null,
  }
}

function statusOf(error: unknown): number | null {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : null
  return typeof status === 'number' ? status : null
}

function systemCodeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
}

/** Without dockerode's prefix, the colon that runc leaves at the end, and most of a container's id. */
function refusalText(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  const line = text
    .replace(/^\(HTTP code \d+\) [^-]*- /, '')
    .replace(/\s+/g, ' ')
    .replace(/\b([0-9a-f]{12})[0-9a-f]{52}\b/g, '$1')
  let end = line.length
  while (end > 0 && ' :'.includes(line[end - 1]!)) end--
  return line.slice(0, end).trim()
}
