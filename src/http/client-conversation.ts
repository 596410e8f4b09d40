// A person and a client in the container of a datastore, over a WebSocket: which messages go where.
// Mind: nothing may pile up here. The client is not read while the person is behind, and the person may have
// only so many bytes on their way.
import type { Client } from '../effects/datastore/clients.ts'
import { Failure, messageOf } from '../errors.ts'
import { toProblem } from './problem.ts'
import { ClientMessage, type ServerMessage } from './schemas/datastore-client.ts'
import { validate } from './validation.ts'
import { closeCodes, type WebSocket } from './web-socket.ts'

/** What a person may have sent that is not `taken` yet. */
const inputWindowBytes = 1024 * 1024
/** At most, give or take one message, waits for the person; at a quarter of it the client goes on. */
const outputWindowBytes = 256 * 1024
const startWithinMs = 10_000
/** The first byte of what the client wrote. */
const channels = { stdout: 1, stderr: 2 }

interface Parts {
  socket: WebSocket
  client: Client
  /** Of the request: the log has what is not shown under it. */
  requestId: string
  onError(error: unknown): void
}

/** Goes on until one of them ends it; the client is closed then, whoever it was. */
export function converse(parts: Parts): void {
  const { socket, client } = parts
  const talk = new Talk(parts)
  const patience = setTimeout(() => talk.refuse(invalid('no `start` came')), startWithinMs)
  socket.listen({
    text(text) {
      clearTimeout(patience)
      talk.heed(() => talk.obey(parseMessage(text)))
    },
    bytes: (bytes) => talk.heed(() => talk.takeInput(bytes)),
    drained: () => talk.goOn(),
  })
  socket.onClose(() => {
    clearTimeout(patience)
    client.close()
  })
}

class Talk {
  private hasBegun = false
  private isBehind = false
  private onTheirWayBytes = 0
  private readonly parts: Parts

  constructor(parts: Parts) {
    this.parts = parts
  }

  /** What it throws is the last thing the person hears. */
  heed(act: () => void): void {
    try {
      act()
    } catch (error) {
      this.refuse(error)
    }
  }

  obey(message: ClientMessage): void {
    const { client } = this.parts
    if (message.type !== 'start') this.requireStart()
    if (message.type === 'start') this.begin(message)
    else if (message.type === 'eof') client.end()
    else client.resize({ columns: message.cols, rows: message.rows })
  }

  takeInput(bytes: Buffer): void {
    this.requireStart()
    this.onTheirWayBytes += bytes.length
    if (this.onTheirWayBytes > inputWindowBytes) throw invalid('more is on its way than was taken')
    this.parts.client.write(bytes, () => {
      this.onTheirWayBytes -= bytes.length
      this.say({ type: 'taken', bytes: bytes.length })
    })
  }

  goOn(): void {
    const { socket, client } = this.parts
    if (!this.isBehind || socket.waitingBytes() > outputWindowBytes / 4) return
    this.isBehind = false
    client.resume()
  }

  refuse(error: unknown): void {
    const { socket, requestId, onError } = this.parts
    const { code, status, detail, hint } = toProblem(error, requestId).body
    if (status === 500) onError(error)
    this.say({ type: 'error', code, detail, ...(hint === undefined ? {} : { hint }) })
    socket.end(closeCodes.refused)
  }

  private begin({ words, terminal }: Extract<ClientMessage, { type: 'start' }>): void {
    if (this.hasBegun) throw invalid('it has begun already')
    this.hasBegun = true
    const { socket, client } = this.parts
    const size = terminal && { name: terminal.name, columns: terminal.cols, rows: terminal.rows }
    void client.start(
      { words, terminal: size },
      {
        wrote: (stream, bytes) => this.show(channels[stream], bytes),
        ended: (code) => {
          this.say({ type: 'exit', code })
          socket.end(closeCodes.done)
        },
        failed: (error) => this.refuse(error),
      },
    )
  }

  private show(channel: number, bytes: Buffer): void {
    const { socket, client } = this.parts
    socket.send(Buffer.concat([Buffer.of(channel), bytes]))
    if (this.isBehind || socket.waitingBytes() < outputWindowBytes) return
    this.isBehind = true
    client.pause()
  }

  private say(message: ServerMessage): void {
    this.parts.socket.send(JSON.stringify(message))
  }

  private requireStart(): void {
    if (!this.hasBegun) throw invalid('the first message has to be `start`')
  }
}

/** Throws `invalid_request`. */
function parseMessage(text: string): ClientMessage {
  return validate(ClientMessage, parseJson(text)) as ClientMessage
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalid(`a message is no JSON: ${messageOf(error)}`)
  }
}

function invalid(message: string): Failure {
  return new Failure('invalid_request', message)
}
