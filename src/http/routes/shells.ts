// Shells over a WebSocket: psql or redis-cli in a datastore, a command in an instance or a job run. What can
// be checked without Docker is checked before the upgrade, and refused as on any other route. Memory is
// bounded: the command is paused while much output is buffered, and `taken` messages acknowledge input,
// because uWS cannot pause reading.
import { DatastoreParams } from '../../api/datastore.ts'
import { JobParams } from '../../api/job.ts'
import { ServiceParams } from '../../api/service.ts'
import { type ShellAnswer, ShellMessage, ShellQuery } from '../../api/shell.ts'
import type { Shell, ShellEvents, ShellPlace } from '../../effects/shells.ts'
import { conflict, invalidRequest, messageOf } from '../../errors.ts'
import { duration } from '../../quantities.ts'
import { isSmallJson } from '../../readers/json.ts'
import { toProblem } from '../pipeline/problem.ts'
import { type Call, type CallById, get, tagged, WebSocketUpgrade } from '../pipeline/route.ts'
import { validate } from '../pipeline/validation.ts'
import { assertAvailable, findDatastore } from '../records/datastore-record.ts'
import { findJob } from '../records/deploy-record.ts'
import { findService } from '../records/service-record.ts'
import { closeCodes, type WebSocket } from '../server/web-socket.ts'

const protocol =
  'Text is JSON: first `{"type":"start","words":[…],"terminal":{"name","cols","rows"}}` ' +
  '(terminal null for pipes), then `resize` with cols and rows, and `eof`. The server sends `taken` ' +
  '(bytes consumed), and last ' +
  '`exit` with a code or `error` as a problem. Binary from the client is input, at most 1 MiB ahead of ' +
  '`taken`; binary from the server is output, after a byte that is 1 for stdout and 2 for stderr.'

const opensShell = { response: 'socket', isAudited: true, problems: ['conflict', 'unavailable'] } as const

export const shellRoutes = [
  ...tagged('Datastores', [
    get('/datastores/{id}/client', {
      ...opensShell,
      summary: 'Opens a WebSocket to psql or redis-cli, signed in',
      description: `The words are arguments of psql or redis-cli, which is signed in. ${protocol}`,
      params: DatastoreParams,
      handler: openDatastoreClient,
    }),
  ]),
  ...tagged('Services', [
    get('/services/{id}/shell', {
      ...opensShell,
      summary: 'Opens a WebSocket to a shell, or another command, in an instance of the live version',
      description: `The words are the command; none is \`/bin/sh\`. ${protocol}`,
      params: ServiceParams,
      query: ShellQuery,
      handler: openInstanceShell,
    }),
  ]),
  ...tagged('Jobs', [
    get('/jobs/{job_id}/shell', {
      ...opensShell,
      summary: 'Opens a WebSocket to a shell, or another command, in the container of a running job run',
      description: `The words are the command; none is \`/bin/sh\`. ${protocol}`,
      params: JobParams,
      handler: openJobShell,
    }),
    get('/jobs/{job_id}/input', {
      ...opensShell,
      summary: 'Opens a WebSocket that sends the standard input of a job run',
      description: `There are no words and no output; \`exit\` says that input is over. ${protocol}`,
      params: JobParams,
      handler: openJobInput,
    }),
  ]),
]

/** Throws `not_found`, `conflict` if the datastore is not available, `unavailable` at the limit of shells. */
function openDatastoreClient(call: CallById) {
  const record = findDatastore(call.context.storage, call.params.id)
  assertAvailable(record)
  return openShell(call, { kind: 'datastore', id: record.id }, { datastore: record.name })
}

function openInstanceShell(call: CallById<ShellQuery>) {
  const { id, name, live_deploy_id: deployId } = findService(call.context.storage, call.params.id)
  const { instance: index } = call.query
  if (deployId === null) throw conflict(`${name} has no live deploy`, `berth deploy ${name} first`)
  return openShell(call, { kind: 'service', id, index }, { service: name, instance: index })
}

function openJobShell(call: CallById) {
  const { id, status, service_id: serviceId } = findJob(call.context.storage, call.params.id)
  if (status !== 'running') throw conflict(`this run is ${status}: it has no container to open`)
  return openShell(call, { kind: 'job-run', id, serviceId }, { job: id })
}

function openJobInput(call: CallById) {
  const run = findJob(call.context.storage, call.params.id)
  if (!run.stdin) throw conflict('this run takes no input', 'start it with berth run --stdin')
  if (run.status !== 'pending' && run.status !== 'running')
    throw conflict(`this run is ${run.status}: it takes no input`)
  return openShell(call, { kind: 'job-input', id: run.id }, { job: run.id })
}

// Not async: the first message of a client would come before anyone listens.
function openShell({ context, caller, log, note, recorded, requestId }: Call, place: ShellPlace, at: object) {
  const opened = context.shells.open(place)
  const fields = { ...at, by: caller?.id, request_id: requestId }
  return new WebSocketUpgrade((socket) => {
    log.info(fields, 'shell opened')
    socket.onClose(() => log.info(fields, 'shell closed'))
    const onError = (error: unknown) => log.error({ ...fields, err: error }, 'shell failed')
    serveShell({ socket, command: opened, requestId, recorded, onError, note })
  })
}

/** The limit of input without a `taken` acknowledgement. A client that exceeds it is disconnected. */
const inputLimitBytes = 1024 * 1024
/** The command is paused at this amount of buffered output, and resumed at a quarter of it. */
const outputLimitBytes = 256 * 1024
const startTimeoutMs = 10_000
/** The first byte of a binary message to the CLI. */
const channels = { stdout: 1, stderr: 2 }

interface ShellParts {
  socket: WebSocket
  command: Shell
  /** Included in internal errors, to find the log entry. */
  requestId: string
  /** The command starts after it. */
  recorded: Promise<void>
  onError(error: unknown): void
  note: Call['note']
}

function serveShell(parts: ShellParts): void {
  const { socket, command } = parts
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
    command.close()
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

  handleMessage(message: ShellMessage): void {
    const { command } = this.parts
    if (message.type !== 'start') this.assertStarted()
    if (message.type === 'start') this.start(message)
    else if (message.type === 'eof') command.end()
    else command.resize({ columns: message.cols, rows: message.rows })
  }

  handleInput(bytes: Buffer): void {
    this.assertStarted()
    this.unacknowledgedBytes += bytes.length
    if (this.unacknowledgedBytes > inputLimitBytes)
      throw invalidRequest(`more than ${inputLimitBytes} bytes are unacknowledged`)
    this.parts.command.write(bytes, () => {
      this.unacknowledgedBytes -= bytes.length
      this.send({ type: 'taken', bytes: bytes.length })
    })
  }

  resumeOutput(): void {
    const { socket, command } = this.parts
    if (!this.isOutputPaused || socket.bufferedBytes() > outputLimitBytes / 4) return
    this.isOutputPaused = false
    command.resume()
  }

  refuse(error: unknown): void {
    const { socket, requestId, onError, note } = this.parts
    const { code, status, detail, hint } = toProblem(error, requestId).body
    if (status === 500) onError(error)
    note({ code })
    this.send({ type: 'error', code, detail, ...(hint === undefined ? {} : { hint }) })
    socket.end(closeCodes.refused)
  }

  private start({ words, terminal }: Extract<ShellMessage, { type: 'start' }>): void {
    if (this.isStarted) throw invalidRequest('`start` was sent twice')
    this.isStarted = true
    const { socket, command, recorded, note } = this.parts
    const size = terminal && { name: terminal.name, columns: terminal.cols, rows: terminal.rows }
    const events: ShellEvents = {
      wrote: (stream, bytes) => this.sendOutput(channels[stream], bytes),
      ended: (code) => {
        note({ exit_code: code })
        this.send({ type: 'exit', code })
        socket.end(closeCodes.done)
      },
      failed: (error) => this.refuse(error),
    }
    const starting = recorded.then(() => command.start({ args: words, terminal: size }, events))
    starting.catch((error) => this.refuse(error))
  }

  private sendOutput(channel: number, bytes: Buffer): void {
    const { socket, command } = this.parts
    socket.send(Buffer.concat([Buffer.of(channel), bytes]))
    if (this.isOutputPaused || socket.bufferedBytes() < outputLimitBytes) return
    this.isOutputPaused = true
    command.pause()
  }

  private send(message: ShellAnswer): void {
    this.parts.socket.send(JSON.stringify(message))
  }

  private assertStarted(): void {
    if (!this.isStarted) throw invalidRequest('the first message must be `start`')
  }
}

function parseMessage(text: string): ShellMessage {
  return validate(ShellMessage, parseJson(text))
}

function parseJson(text: string): unknown {
  if (!isSmallJson(text, 10_000)) throw invalidRequest('a message has too many values')
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalidRequest(`a message is not JSON: ${messageOf(error)}`)
  }
}
