// Follows server-sent events until `end`, across losses of the connection, such as a stopped server.
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import type { AccessRecord } from '../../api/status.ts'
import { sleep } from '../../async/sleep.ts'
import { duration } from '../../quantities.ts'
import { CliFailure, exitCodes } from '../failure.ts'
import type { Query } from './client.ts'
import type { Cli } from './session.ts'

export interface StreamEvent {
  id: string | null
  event: string
  data: string
}

export interface FollowOptions {
  query?: Query
  /** The stream ends with the existing content: its normal close is the end. */
  existingOnly?: boolean
  /** Prints no messages about connection losses, because another stream to the same server prints them. */
  quiet?: boolean
  /** Stops following, in addition to Ctrl-C. */
  signal?: AbortSignal
}

/** The server sends a comment every 15 s: this long without a byte, the connection is dead. */
const idleTimeoutMs = 45_000
const minBackoffMs = 250
const maxBackoffMs = 5_000
const giveUpAfterMs = 10 * 60_000
const lossMessage = `connection lost, retrying for ${duration(giveUpAfterMs)}`
/** A line of a log has at most 16 KiB. */
const maxEventChars = 1024 * 1024
/** Failures that a retry does not change. */
const permanentExitCodes: number[] = [exitCodes.notFound, exitCodes.refused]

interface StreamState {
  cli: Cli
  path: string
  options: FollowOptions
  signal: AbortSignal
  lastId: string | null
  /** When the connection was lost; null while connected and before the first connection. */
  lostAt: number | null
  /** Losses since the last event. */
  losses: number
}

/** Until `end` or the signal. Throws CliFailure for a first failure, 401, 403, 404, or 10 min offline. */
export async function* followEvents(
  cli: Cli,
  path: string,
  options: FollowOptions = {},
): AsyncGenerator<StreamEvent> {
  const signal = options.signal ? AbortSignal.any([cli.signal, options.signal]) : cli.signal
  const following: StreamState = { cli, path, options, signal, lastId: null, lostAt: null, losses: 0 }
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    const connection = await connect(following, isFirst)
    if (connection && (yield* readUntilLoss(following, connection))) return
    await backOff(following)
  }
}

/** Null if no connection can be opened now. */
async function connect(following: StreamState, isFirst: boolean): Promise<Connection | null> {
  const { cli, path, options, signal, lastId } = following
  const idleAbort = new AbortController()
  try {
    const response = await cli.client.open('GET', path, {
      ...(options.query && { query: options.query }),
      headers: lastId === null ? {} : { 'last-event-id': lastId },
      signal: AbortSignal.any([signal, idleAbort.signal]),
    })
    reportReconnected(following)
    return { response, idleAbort }
  } catch (error) {
    if (signal.aborted) return null
    if (isFirst || isPermanent(following, error)) throw error
    return null
  }
}

interface Connection {
  response: Response
  idleAbort: AbortController
}

/** True if the stream reached its end; false if it was lost. */
async function* readUntilLoss(following: StreamState, connection: Connection) {
  try {
    for await (const event of eventsOf(connection)) {
      if (event.event === 'end') return true
      following.lastId = event.id ?? following.lastId
      following.losses = 0
      yield event
    }
    return following.options.existingOnly ?? false
  } catch (error) {
    if (error instanceof CliFailure) throw error
    return false
  }
}

/** The data of an event: an object with these text fields. Throws CliFailure for anything else. */
export function parseEvent<T extends object>(data: string, texts: (keyof T & string)[]): T {
  const parsed = parseJson(data)
  const fields = Object(parsed) as Record<string, unknown>
  if (texts.every((name) => typeof fields[name] === 'string')) return parsed as T
  throw notABerthServer(`an event without ${texts.join(', ')}`)
}

function parseJson(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    throw notABerthServer('an event that is not JSON')
  }
}

function notABerthServer(what: string): CliFailure {
  return new CliFailure(`the server sent ${what}, unlike a Berth server`, {
    hint: 'check the address: berth servers lists yours',
  })
}

async function* eventsOf({ response, idleAbort }: Connection): AsyncGenerator<StreamEvent> {
  let events: EventSourceMessage[] = []
  const parser = createParser({
    onEvent: (event) => void events.push(event),
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') throw notABerthServer('an event without an end')
    },
    maxBufferSize: maxEventChars,
  })
  const decoder = new TextDecoder()
  const watch = () => setTimeout(() => idleAbort.abort(), idleTimeoutMs)
  let watchdog = watch()
  try {
    for await (const bytes of response.body ?? []) {
      // A slow reader is not an idle connection.
      clearTimeout(watchdog)
      parser.feed(decoder.decode(bytes, { stream: true }))
      const messages = events
      events = []
      for (const { id, event, data } of messages) yield { id: id ?? null, event: event ?? 'message', data }
      watchdog = watch()
    }
  } finally {
    clearTimeout(watchdog)
  }
}

function isPermanent({ lostAt }: StreamState, error: unknown): boolean {
  if (!(error instanceof CliFailure) || permanentExitCodes.includes(error.exitCode)) return true
  return lostAt !== null && Date.now() - lostAt > giveUpAfterMs
}

/** Waits longer after each loss, with a random factor that spreads the requests of all clients. */
async function backOff(following: StreamState): Promise<void> {
  const { cli, options, signal } = following
  if (signal.aborted) return
  if (following.lostAt === null && !options.quiet) cli.out.say(statusLine(cli, lossMessage))
  following.lostAt ??= Date.now()
  const pauseMs = Math.min(maxBackoffMs, minBackoffMs * 2 ** following.losses++)
  await sleep(pauseMs * (0.5 + Math.random() / 2), signal).catch(() => {})
}

function reportReconnected(following: StreamState): void {
  const { cli, options, lostAt } = following
  following.lostAt = null
  if (lostAt === null || options.quiet) return
  cli.out.say(statusLine(cli, 'connected again'))
}

function statusLine({ out }: Cli, text: string): string {
  return out.tint('yellow', ` ! ${text}`)
}

export interface LogLine {
  ts: string
  stream: string
  line: string
  /** The instance that wrote the line; lines of a deploy's log have none. */
  instance?: string
  deploy_id?: string
  access?: AccessRecord
  /** The event that a `system` line reports about an instance. */
  event?: Record<string, unknown>
  step?: { number: number; state?: string; name?: string }
  /** A shorter form of the line, shown after the name of the phase. */
  brief?: string
  /** In the log of a job run: `running` when its command starts, `outcome` on the last line. */
  mark?: string
}

/** The data of a `log` event. Throws CliFailure for anything else. */
export function parseLogLine(data: string): LogLine {
  const { ts, stream, line, ...about } = parseEvent<LogLine>(data, ['ts', 'stream', 'line'])
  const { instance, deploy_id, access, event, step, brief, mark } = about
  return {
    ts,
    stream,
    line,
    ...(typeof instance === 'string' && { instance }),
    ...(typeof deploy_id === 'string' && { deploy_id }),
    ...(typeof access?.status === 'number' && { access }),
    ...(typeof event === 'object' && event !== null && { event }),
    ...(typeof step?.number === 'number' && { step }),
    ...(typeof brief === 'string' && { brief }),
    ...(typeof mark === 'string' && { mark }),
  }
}
