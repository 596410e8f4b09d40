// `berth db psql` and `berth db redis-cli`: a datastore's own client, in its container.
// Options of Berth come before the datastore's name; everything after it belongs to the client.

import type { IncomingMessage } from 'node:http'
import { constants } from 'node:os'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { RawData, WebSocket } from 'ws'
import type { Datastore } from '../../../api/datastore.ts'
import type { ClientMessage, ServerMessage } from '../../../api/datastore-shell.ts'
import { addressOf, type ClientOptions, toFailure, unreachable } from '../../client/client.ts'
import type { Cli } from '../../client/session.ts'
import type { BerthCommand } from '../../command.ts'
import { datastorePath } from '../../datastore/datastore.ts'
import { CliFailure, exitCodes, interruption, usageFailure } from '../../failure.ts'
import type { Invocation } from '../../invocation.ts'
import { plain } from '../../terminal/output.ts'

type Kind = Datastore['kind']

interface ClientProgram {
  name: string
  examples: string[]
}

const programs: Record<Kind, ClientProgram> = {
  postgres: {
    name: 'psql',
    examples: [
      'berth db psql shop-db',
      "berth db psql shop-db -c 'select count(*) from orders'",
      "echo 'select 1' | berth db psql shop-db",
    ],
  },
  redis: {
    name: 'redis-cli',
    examples: [
      'berth db redis-cli cache',
      'berth db redis-cli cache get key',
      'echo dbsize | berth db redis-cli cache',
    ],
  },
}

/** The exit code after SIGKILL. */
const killed = 137

export function addClientCommands(db: BerthCommand): void {
  for (const [kind, program] of Object.entries(programs) as [Kind, ClientProgram][]) {
    db.command(program.name)
      .argument('<name>', 'the datastore')
      .argument('[words...]', `arguments for ${program.name}`)
      .passThroughOptions()
      .description(`open ${program.name} in the datastore, signed in; piped input is passed to it`)
      .examples(...program.examples)
      .runs((cli, name: string, words: string[]) => openClient(cli, kind, name, withoutDashes(words)))
  }
}

/** `--` before the words is optional here; `berth run` requires it. */
function withoutDashes([first, ...others]: string[]): string[] {
  return first === undefined || first === '--' ? others : [first, ...others]
}

async function openClient(cli: Cli, kind: Kind, name: string, words: string[]): Promise<number> {
  const program = programs[kind]
  if (cli.out.isJson) {
    throw usageFailure(`${program.name} has no JSON output`, 'remove --json')
  }
  const datastore = await cli.client.call<Datastore>('GET', datastorePath(name))
  if (datastore.kind !== kind) {
    const hint = `berth db ${programs[datastore.kind].name} ${datastore.name}`
    throw usageFailure(
      `${plain(datastore.name)} is a ${datastore.kind} datastore, which ${program.name} cannot open`,
      hint,
    )
  }
  const path = `${datastorePath(datastore.id)}/client`
  const socket = await openWebSocket({ ...cli.server, signal: cli.signal }, path)
  const code = await runShell(cli, socket, words)
  if (code !== killed) return code
  const why = `${plain(datastore.name)} stopped, or reached its memory limit`
  const hint = `berth db show ${datastore.name}`
  throw new CliFailure(`${program.name} was killed in the datastore: ${why}`, { exitCode: code, hint })
}

// A session with psql or redis-cli. Output passes unchanged, control sequences included.

/** The maximum of input not yet acknowledged by a `taken` message: half of the server's limit. */
const windowBytes = 512 * 1024
const pieceBytes = 32 * 1024
const stderrChannel = 2

type Start = Extract<ClientMessage, { type: 'start' }>

/** Resolves with the client's exit code. Throws (5) if the connection is lost. */
async function runShell(cli: Cli, socket: WebSocket, words: string[]): Promise<number> {
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
      else if (message.type === 'error') {
        const { code, detail, hint } = message
        reject(new CliFailure(detail, { code, hint }))
      }
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

// A WebSocket to the server. A rejected upgrade fails like any other call. The library loads on first use.

const handshakeTimeoutMs = 30_000
const maxMessageBytes = 1024 * 1024
const bodylessStatuses = [204, 205, 304]

/** Resolves with an open, paused socket, so no message is lost. Fails like an API call, and with `signal`. */
async function openWebSocket({ url, token, signal }: ClientOptions, path: string): Promise<WebSocket> {
  const { WebSocket: Socket } = await import('ws')
  const socket = new Socket(addressOf(url, path).replace(/^http/, 'ws'), {
    headers: token ? { authorization: `Bearer ${token}` } : {},
    handshakeTimeout: handshakeTimeoutMs,
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
  })
  const giveUp = () => socket.terminate()
  signal.addEventListener('abort', giveUp)
  try {
    return await new Promise<WebSocket>((resolve, reject) => {
      socket.once('unexpected-response', (_, response) => {
        toFailure(url, toResponse(response)).then(reject, reject)
      })
      socket.once('error', (error) => reject(unreachable(url, { cause: error })))
      socket.once('open', () => {
        socket.pause()
        resolve(socket)
      })
    })
  } catch (error) {
    socket.on('error', () => {})
    socket.terminate()
    throw signal.aborted ? interruption() : error
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

function toResponse(response: IncomingMessage): Response {
  const status = response.statusCode ?? 502
  const headers = Object.entries(response.headers).map(([name, value]): [string, string] => [
    name,
    String(value),
  ])
  const body = bodylessStatuses.includes(status) ? null : (Readable.toWeb(response) as ReadableStream)
  return new Response(body, { status, headers })
}

// Raw mode: every key goes to stdin, including Ctrl-C. Without its end, the shell does not echo keys.

interface RawTerminal {
  size(): { cols: number; rows: number }
  close(): void
}

/** Signals that end the process and would leave the terminal in raw mode. */
const terminationSignals = ['SIGTERM', 'SIGHUP', 'SIGQUIT'] as const

/** Standard input and output must be terminals. */
function openRawTerminal({ stdin, stdout }: Invocation, onResize: () => void): RawTerminal {
  const restore = () => void stdin.setRawMode?.(false)
  const leave = (signal: (typeof terminationSignals)[number]) => process.exit(128 + constants.signals[signal])
  stdin.setRawMode?.(true)
  process.once('exit', restore)
  for (const signal of terminationSignals) process.once(signal, leave)
  stdout.on('resize', onResize)
  return {
    size: () => ({ cols: stdout.columns || 80, rows: stdout.rows || 24 }),
    close() {
      stdout.off('resize', onResize)
      for (const signal of terminationSignals) process.off(signal, leave)
      process.off('exit', restore)
      restore()
    },
  }
}
