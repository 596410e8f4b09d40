// A WebSocket to the server, for what goes on both ways. A refusal is read as that of any other call.
// The library is loaded when it is needed, so that no other command waits for it.
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { WebSocket } from 'ws'
import { interruption } from '../failure.ts'
import { addressOf, type ClientOptions, toFailure, unreachable } from './client.ts'

const handshakeMs = 30_000
const longestMessageBytes = 1024 * 1024
const withoutBody = [204, 205, 304]

/** Open, and paused: nothing is missed. Fails as a call does, and when `signal` says so. */
export async function openWebSocket({ url, token, signal }: ClientOptions, path: string): Promise<WebSocket> {
  const { WebSocket: Socket } = await import('ws')
  const socket = new Socket(addressOf(url, path).replace(/^http/, 'ws'), {
    headers: token ? { authorization: `Bearer ${token}` } : {},
    handshakeTimeout: handshakeMs,
    maxPayload: longestMessageBytes,
    perMessageDeflate: false,
  })
  const giveUp = () => socket.terminate()
  signal.addEventListener('abort', giveUp)
  try {
    return await new Promise<WebSocket>((resolve, reject) => {
      socket.once('unexpected-response', (_, answer) => {
        toFailure(url, toResponse(answer)).then(reject, reject)
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

function toResponse(answer: IncomingMessage): Response {
  const status = answer.statusCode ?? 502
  const headers = Object.entries(answer.headers).map(([name, value]): [string, string] => [
    name,
    String(value),
  ])
  const body = withoutBody.includes(status) ? null : (Readable.toWeb(answer) as ReadableStream)
  return new Response(body, { status, headers })
}
