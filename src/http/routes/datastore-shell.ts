// The shell of a datastore: psql or redis-cli in its container, over a WebSocket. All checks precede the
// upgrade: the CLI can read a problem response only before it. Memory is bounded: the client is paused while
// much output is buffered, and `taken` messages acknowledge input, because uWS cannot pause reading.
import { DatastoreParams } from '../../api/datastore.ts'
import { ClientMessage, type ServerMessage } from '../../api/datastore-shell.ts'
import type { Client, ClientEvents } from '../../effects/datastore/clients.ts'
import { invalidRequest, messageOf } from '../../errors.ts'
import { duration } from '../../quantities.ts'
import { toProblem } from '../pipeline/problem.ts'
import { type CallById, get, tagged, WebSocketUpgrade } from '../pipeline/route.ts'
import { validate } from '../pipeline/validation.ts'
import { assertAvailable, findDatastore } from '../records/datastore-record.ts'
import { closeCodes, type WebSocket } from '../server/web-socket.ts'

export const datastoreShellRoutes = tagged('Datastores', [
  get('/datastores/{id}/client', {
    summary:
      'Opens a WebSocket to psql or redis-cli, signed in. Text is JSON: first ' +
      '`{"type":"start","words":[…],"terminal":{"name","cols","rows"}}` (terminal null for pipes), then ' +
      '`resize` with cols and rows, and `eof`. The server sends `taken` (bytes consumed), and last `exit` ' +
      'with a code or `error` as a problem. Binary from the client is input, at most 1 MiB ahead of ' +
      '`taken`; binary from the server is output, after a byte that is 1 for stdout and 2 for stderr',
    params: DatastoreParams,
    response: 'socket',
    isAudited: true,
    problems: ['conflict', 'unavailable'],
    handler: openDatastoreClient,
  }),
])

/** Throws `not_found`, `conflict` if the datastore is not available, `unavailable` at the limit of shells. */
function openDatastoreClient({ context, params, caller, log, note, recorded, requestId }: CallById) {
  const record = findDatastore(context.storage, params.id)
  assertAvailable(record)
  const client = context.clients.open(record.id)
  const fields = { datastore: record.name, by: caller?.id, request_id: requestId }
  return new WebSocketUpgrade((socket) => {
    log.info(fields, 'datastore shell opened')
    socket.onClose(() => log.info(fields, 'datastore shell closed'))
    const onError = (error: unknown) => log.error({ ...fields, err: error }, 'datastore shell failed')
    const onExit = (code: number) => note({ exit_code: code })
    openDatastoreShell({ socket, client, requestId, recorded, onError, onExit })
  })
}

/** The limit of input without a `taken` acknowledgement. A client that exceeds it is disconnected. */
const inputLimitBytes = 1024 * 1024
/** The client is paused at this amount of buffered output, and resumed at a quarter of it. */
const outputLimitBytes = 256 * 1024
const startTimeoutMs = 10_000
/** The first byte of a binary message to the CLI. */
const channels = { stdout: 1, stderr: 2 }

interface ShellParts {
  socket: WebSocket
  client: Client
  /** Included in internal errors, to find the log entry. */
  requestId: string
  /** The client starts after it. */
  recorded: Promise<void>
  onError(error: unknown): void
  onExit(code: number): void
}

function openDatastoreShell(parts: ShellParts): void {
  const { socket, client } = parts
  const session = new ShellSession(parts)
  const startTimer = setTimeout(
    () =>
      session.refuse(invalidRequest(`no \`start\` message was received within ${duration(startTimeoutMs)}`)),
    startTimeoutMs,
  )
  socket.listen({
    text(text) {
      clearTimeout(startTimer)
      session.guard(() => session.handleMessage(parseMessage(text)))
    },
    bytes: (bytes) => session.guard(() => session.handleInput(bytes)),
    drained: () => session.resumeOutput(),
  })
  socket.onClose(() => {
    clearTimeout(startTimer)
    client.close()
  })
}

class ShellSession {
  private isStarted = false
  private isOutputPaused = false
  private unacknowledgedBytes = 0

  constructor(private readonly parts: ShellParts) {}

  /** An error becomes the last message of the session. */
  guard(act: () => void): void {
    try {
      act()
    } catch (error) {
      this.refuse(error)
    }
  }

  handleMessage(message: ClientMessage): void {
    const { client } = this.parts
    if (message.type !== 'start') this.assertStarted()
    if (message.type === 'start') this.start(message)
    else if (message.type === 'eof') client.end()
    else client.resize({ columns: message.cols, rows: message.rows })
  }

  handleInput(bytes: Buffer): void {
    this.assertStarted()
    this.unacknowledgedBytes += bytes.length
    if (this.unacknowledgedBytes > inputLimitBytes)
      throw invalidRequest(`more than ${inputLimitBytes} bytes are unacknowledged`)
    this.parts.client.write(bytes, () => {
      this.unacknowledgedBytes -= bytes.length
      this.send({ type: 'taken', bytes: bytes.length })
    })
  }

  resumeOutput(): void {
    const { socket, client } = this.parts
    if (!this.isOutputPaused || socket.bufferedBytes() > outputLimitBytes / 4) return
    this.isOutputPaused = false
    client.resume()
  }

  refuse(error: unknown): void {
    const { socket, requestId, onError } = this.parts
    const { code, status, detail, hint } = toProblem(error, requestId).body
    if (status === 500) onError(error)
    this.send({ type: 'error', code, detail, ...(hint === undefined ? {} : { hint }) })
    socket.end(closeCodes.refused)
  }

  private start({ words, terminal }: Extract<ClientMessage, { type: 'start' }>): void {
    if (this.isStarted) throw invalidRequest('`start` was sent twice')
    this.isStarted = true
    const { socket, client, recorded, onExit } = this.parts
    const size = terminal && { name: terminal.name, columns: terminal.cols, rows: terminal.rows }
    const events: ClientEvents = {
      wrote: (stream, bytes) => this.sendOutput(channels[stream], bytes),
      ended: (code) => {
        onExit(code)
        this.send({ type: 'exit', code })
        socket.end(closeCodes.done)
      },
      failed: (error) => this.refuse(error),
    }
    const starting = recorded.then(() => client.start({ args: words, terminal: size }, events))
    starting.catch((error) => this.refuse(error))
  }

  private sendOutput(channel: number, bytes: Buffer): void {
    const { socket, client } = this.parts
    socket.send(Buffer.concat([Buffer.of(channel), bytes]))
    if (this.isOutputPaused || socket.bufferedBytes() < outputLimitBytes) return
    this.isOutputPaused = true
    client.pause()
  }

  private send(message: ServerMessage): void {
    this.parts.socket.send(JSON.stringify(message))
  }

  private assertStarted(): void {
    if (!this.isStarted) throw invalidRequest('the first message must be `start`')
  }
}

function parseMessage(text: string): ClientMessage {
  return validate(ClientMessage, parseJson(text))
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalidRequest(`a message is not JSON: ${messageOf(error)}`)
  }
}
