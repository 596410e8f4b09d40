// A WebSocket to the server. A rejected upgrade fails like any other call. The library loads on first use.
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { WebSocket } from 'ws'
import { interruption } from '../failure.ts'
import { addressOf, type ClientOptions, toFailure, unreachable } from './client.ts'

const handshakeTimeoutMs = 30_000
const maxMessageBytes = 1024 * 1024
const bodylessStatuses = [204, 205, 304]

/** Resolves with an open, paused socket, so no message is lost. Fails like an API call, and with `signal`. */
export async function openWebSocket({ url, token, signal }: ClientOptions, path: string): Promise<WebSocket> {
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
