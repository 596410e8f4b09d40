// A shell in a container, over a WebSocket. Output passes unchanged, control sequences included.
import type { RawData, WebSocket } from 'ws'
import type { ShellAnswer, ShellMessage } from '../../api/shell.ts'
import type { Cli } from '../client/session.ts'
import { openWebSocket } from '../client/web-socket.ts'
import { CliFailure, exitCodes, interruption } from '../failure.ts'
import { openRawTerminal, type RawTerminal } from '../terminal/raw-terminal.ts'

/** The maximum of input not yet acknowledged by a `taken` message: half of the server's limit. */
const windowBytes = 512 * 1024
const pieceBytes = 32 * 1024
const stderrChannel = 2

type Start = Extract<ShellMessage, { type: 'start' }>

/** The exit code after SIGKILL. */
const killed = 137

interface Words {
  /** What became of the command. */
  whenLost: string
  whenKilled: string
  /** Where to look when it was killed. */
  hint: string
}

/** Resolves with the exit code of the command. Throws (5) if the connection is lost. */
export async function openShell(
  cli: Cli,
  path: string,
  words: string[],
  { whenLost, whenKilled, hint }: Words,
): Promise<number> {
  const socket = await openWebSocket({ ...cli.server, signal: cli.signal }, path)
  const code = await runShell(cli, socket, words, whenLost)
  if (code === killed) throw new CliFailure(whenKilled, { exitCode: code, hint })
  return code
}

/** Sends all of standard input. Resolves when the server needs no more of it. */
export async function sendStandardInput(cli: Cli, path: string): Promise<void> {
  const socket = await openWebSocket({ ...cli.server, signal: cli.signal }, path)
  await runShell(cli, socket, [], 'the command is stopped', false)
}

async function runShell(
  cli: Cli,
  socket: WebSocket,
  words: string[],
  whenLost: string,
  isTerminal = cli.stdin.isTTY === true && cli.stdout.isTTY === true,
): Promise<number> {
  const send = (message: ShellMessage) => socket.send(JSON.stringify(message))
  const terminal = isTerminal
    ? openRawTerminal(cli, () => send({ type: 'resize', ...terminal!.size() }))
    : null
  try {
    const window = createWindow()
    const exit = untilExit(cli, socket, window.give, whenLost)
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
  socket.send(JSON.stringify({ type: 'eof' } satisfies ShellMessage))
  return new Promise(() => {})
}

function untilExit(
  cli: Cli,
  socket: WebSocket,
  give: (bytes: number) => void,
  hint: string,
): Promise<number> {
  const { signal, client } = cli
  const lost = (reason: string) =>
    new CliFailure(`the connection to ${client.url} was lost: ${reason}`, {
      exitCode: exitCodes.unreachable,
      hint,
    })
  return new Promise((resolve, reject) => {
    const stopKeepAlive = keepAlive(socket, () => reject(lost('it does not respond')))
    const giveUp = () => reject(interruption())
    signal.addEventListener('abort', giveUp, { once: true })
    socket.on('message', (data, isBinary) => {
      if (isBinary) return writeOutput(cli, socket, data as Buffer)
      const message = parseMessage(data)
      if (message.type === 'taken') give(message.bytes)
      else if (message.type === 'exit') resolve(message.code)
      else if (message.type === 'error') {
        const { code, detail, hint } = message
        reject(new CliFailure(detail, { code, hint }))
      }
    })
    socket.on('error', (error) => reject(lost(error.message)))
    socket.on('close', (code) => {
      stopKeepAlive()
      signal.removeEventListener('abort', giveUp)
      const isClosing = code === 1001
      reject(lost(isClosing ? 'the server is stopping, or your token has expired' : 'it closed unexpectedly'))
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

function parseMessage(data: RawData): ShellAnswer {
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
 * Detects a server that disappeared: pings every 20 s, and calls `onDead` after a minute without data.
 * The pings also keep a shell with paused output open. Returns a function that stops it.
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
