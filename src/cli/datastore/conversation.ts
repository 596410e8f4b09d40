// Talking to psql or redis-cli in the container of a datastore: at this terminal, or through these pipes.
// Mind: what it writes is shown as it is, control sequences too: it is a program that the person asked for.
import type { RawData, WebSocket } from 'ws'
import type { ClientMessage, ServerMessage } from '../../http/schemas/datastore-client.ts'
import { CliFailure, exitCodes, interruption } from '../failure.ts'
import type { Cli } from '../session.ts'
import { openRawTerminal, type RawTerminal } from '../terminal/raw-terminal.ts'
import { watchSilence } from './silence.ts'

/** Half of what the server lets be on its way. */
const windowBytes = 512 * 1024
const pieceBytes = 32 * 1024
const stderrChannel = 2

type Start = Extract<ClientMessage, { type: 'start' }>

/** Starts the client with these words. Resolves with its exit code; exit 5 when the connection is lost. */
export async function converse(cli: Cli, socket: WebSocket, words: string[]): Promise<number> {
  const say = (message: ClientMessage) => socket.send(JSON.stringify(message))
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true
  const terminal = isTerminal ? openRawTerminal(() => say({ type: 'resize', ...terminal!.size() })) : null
  try {
    const window = createWindow()
    const end = untilEnd(cli, socket, window.give)
    say({ type: 'start', words, terminal: terminalOf(cli, terminal) })
    socket.resume()
    return await Promise.race([end, sendInput(socket, window.take)])
  } finally {
    terminal?.close()
    socket.terminate()
  }
}

function terminalOf({ env }: Cli, terminal: RawTerminal | null): Start['terminal'] {
  if (!terminal) return null
  const name = /^[\w.+-]{1,64}$/.test(env.TERM ?? '') ? env.TERM! : 'xterm'
  return { name, ...terminal.size() }
}

/** Never resolves: its end is not that of the client. */
async function sendInput(socket: WebSocket, take: (bytes: number) => Promise<void>): Promise<never> {
  try {
    for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
      for (let at = 0; at < chunk.length; at += pieceBytes) {
        const piece = chunk.subarray(at, at + pieceBytes)
        await take(piece.length)
        socket.send(piece)
      }
    }
  } catch (error) {
    throw new CliFailure(`cannot read what is piped in: ${(error as Error).message}`)
  }
  socket.send(JSON.stringify({ type: 'eof' } satisfies ClientMessage))
  return new Promise(() => {})
}

function untilEnd(cli: Cli, socket: WebSocket, give: (bytes: number) => void): Promise<number> {
  const { signal, client } = cli
  return new Promise((resolve, reject) => {
    const stopWatching = watchSilence(socket, () => reject(lost(client.url, 'it does not answer')))
    const giveUp = () => reject(interruption())
    signal.addEventListener('abort', giveUp, { once: true })
    socket.on('message', (data, isBinary) => {
      if (isBinary) return show(socket, data as Buffer)
      const message = parseMessage(data)
      if (message.type === 'taken') give(message.bytes)
      else if (message.type === 'exit') resolve(message.code)
      else if (message.type === 'error') reject(toFailure(message))
    })
    socket.on('error', (error) => reject(lost(client.url, error.message)))
    socket.on('close', (code) => {
      stopWatching()
      signal.removeEventListener('abort', giveUp)
      reject(lost(client.url, code === 1001 ? 'the server stops, or your token has ended' : 'it broke off'))
    })
  })
}

/** Reads on when it is written. */
function show(socket: WebSocket, data: Buffer): void {
  const output = data[0] === stderrChannel ? process.stderr : process.stdout
  if (output.write(data.subarray(1))) return
  socket.pause()
  output.once('drain', () => socket.resume())
}

function parseMessage(data: RawData): ServerMessage {
  try {
    return JSON.parse(String(data))
  } catch {
    return { type: 'error', code: 'internal_error', detail: 'the server says what this berth does not know' }
  }
}

function toFailure({ code, detail, hint }: Extract<ServerMessage, { type: 'error' }>): CliFailure {
  return new CliFailure(detail, { code, hint })
}

function lost(url: string, reason: string): CliFailure {
  return new CliFailure(`the connection to ${url} is lost: ${reason}`, {
    exitCode: exitCodes.unreachable,
    hint: 'the client there is ended, and what was not committed is undone',
  })
}

/** As many bytes may be on their way. */
function createWindow() {
  let free = windowBytes
  let wake = () => {}
  return {
    async take(bytes: number): Promise<void> {
      while (free < bytes) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      free -= bytes
    },
    give(bytes: number): void {
      free += bytes
      wake()
    },
  }
}
