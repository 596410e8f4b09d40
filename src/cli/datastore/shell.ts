// A session with psql or redis-cli in the container of a datastore, at this terminal or through pipes.
// Output is passed on unchanged, control sequences included: the user started this program.
import type { RawData, WebSocket } from 'ws'
import type { ClientMessage, ServerMessage } from '../../api/datastore-shell.ts'
import type { Cli } from '../client/session.ts'
import { CliFailure, exitCodes, interruption } from '../failure.ts'
import { openRawTerminal, type RawTerminal } from '../terminal/raw-terminal.ts'

/** The maximum of input not yet acknowledged by a `taken` message: half of the server's limit. */
const windowBytes = 512 * 1024
const pieceBytes = 32 * 1024
const stderrChannel = 2

type Start = Extract<ClientMessage, { type: 'start' }>

/**
 * Runs the client with these arguments. Resolves with its exit code. Throws (5) if the connection is lost.
 */
export async function runShell(cli: Cli, socket: WebSocket, words: string[]): Promise<number> {
  const send = (message: ClientMessage) => socket.send(JSON.stringify(message))
  const isTerminal = cli.stdin.isTTY === true && cli.stdout.isTTY === true
  const terminal = isTerminal
    ? openRawTerminal(cli, () => send({ type: 'resize', ...terminal!.size() }))
    : null
  try {
    const window = createWindow()
    const exit = untilExit(cli, socket, window.give)
    send({ type: 'start', words, terminal: terminalOf(cli, terminal) })
    socket.resume()
    return await Promise.race([exit, sendInput(cli, socket, window.take)])
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

/** Never resolves, because the client may continue after the end of its input. */
async function sendInput(
  { stdin }: Cli,
  socket: WebSocket,
  take: (bytes: number) => Promise<void>,
): Promise<never> {
  try {
    for await (const chunk of stdin as AsyncIterable<Buffer>) {
      for (let at = 0; at < chunk.length; at += pieceBytes) {
        const piece = chunk.subarray(at, at + pieceBytes)
        await take(piece.length)
        socket.send(piece)
      }
    }
  } catch (error) {
    throw new CliFailure(`cannot read standard input: ${(error as Error).message}`)
  }
  socket.send(JSON.stringify({ type: 'eof' } satisfies ClientMessage))
  return new Promise(() => {})
}

function untilExit(cli: Cli, socket: WebSocket, give: (bytes: number) => void): Promise<number> {
  const { signal, client } = cli
  return new Promise((resolve, reject) => {
    const stopKeepAlive = keepAlive(socket, () => reject(lost(client.url, 'it does not respond')))
    const giveUp = () => reject(interruption())
    signal.addEventListener('abort', giveUp, { once: true })
    socket.on('message', (data, isBinary) => {
      if (isBinary) return writeOutput(cli, socket, data as Buffer)
      const message = parseMessage(data)
      if (message.type === 'taken') give(message.bytes)
      else if (message.type === 'exit') resolve(message.code)
      else if (message.type === 'error') reject(toFailure(message))
    })
    socket.on('error', (error) => reject(lost(client.url, error.message)))
    socket.on('close', (code) => {
      stopKeepAlive()
      signal.removeEventListener('abort', giveUp)
      reject(
        lost(
          client.url,
          code === 1001 ? 'the server is stopping, or your token has expired' : 'it closed unexpectedly',
        ),
      )
    })
  })
}

/** Pauses reading until the output is written. */
function writeOutput({ stdout, stderr }: Cli, socket: WebSocket, data: Buffer): void {
  const output = data[0] === stderrChannel ? stderr : stdout
  if (output.write(data.subarray(1))) return
  socket.pause()
  output.once('drain', () => socket.resume())
}

function parseMessage(data: RawData): ServerMessage {
  try {
    return JSON.parse(String(data))
  } catch {
    return {
      type: 'error',
      code: 'internal_error',
      detail: 'the server sent a message that this berth does not know',
    }
  }
}

function toFailure({ code, detail, hint }: Extract<ServerMessage, { type: 'error' }>): CliFailure {
  return new CliFailure(detail, { code, hint })
}

function lost(url: string, reason: string): CliFailure {
  return new CliFailure(`the connection to ${url} was lost: ${reason}`, {
    exitCode: exitCodes.unreachable,
    hint: 'the client in the datastore was stopped, and uncommitted changes were rolled back',
  })
}

/** uWS cannot pause reading, so the server acknowledges input and this window waits for it. */
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

const pingEveryMs = 20_000
const maxUnansweredPings = 3

/**
 * Detects a server that disappeared without closing the WebSocket: pings every 20 s, and calls `onDead` after
 * a minute without data. The pings also keep the server from closing a shell whose output is paused, for
 * example by a pager. Returns a function that stops it.
 */
export function keepAlive(
  socket: Pick<WebSocket, 'on' | 'ping' | 'isPaused'>,
  onDead: () => void,
): () => void {
  let unansweredPings = 0
  const reset = () => {
    unansweredPings = 0
  }
  for (const event of ['message', 'ping', 'pong'] as const) socket.on(event, reset)
  const timer = setInterval(() => {
    // A paused socket receives nothing.
    if (socket.isPaused) reset()
    if (unansweredPings === maxUnansweredPings) return onDead()
    unansweredPings += 1
    socket.ping()
  }, pingEveryMs)
  return () => clearInterval(timer)
}
