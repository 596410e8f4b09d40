// Receivers of messages on this machine, which answer as the test says.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Scope } from '../system/directory.ts'

export interface Received {
  path: string
  headers: IncomingHttpHeaders
  body: string
}

export type Answer = (response: ServerResponse, received: Received) => void

/** Answers in turn; the last one repeats. Stopped after the test. */
export async function startReceiver(t: Scope, ...answers: Answer[]) {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const one = { path: request.url ?? '', headers: request.headers, body: await text(request) }
    received.push(one)
    const answer = answers[Math.min(received.length, answers.length) - 1] ?? status(204)
    answer(response, one)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }
}

export function status(code: number, body = '', headers: Record<string, string> = {}): Answer {
  return (response) => void response.writeHead(code, headers).end(body)
}

/** Never answers. */
export const hangs: Answer = () => undefined

/** Closes the connection without an answer. */
export const cuts: Answer = (response) => void response.destroy()

/** Sends until the other side closes. */
export const floods: Answer = (response) => {
  response.writeHead(500)
  const piece = Buffer.alloc(64 * 1024, 'x')
  const more = () => {
    while (!response.destroyed && response.write(piece));
  }
  response.on('drain', more)
  more()
}
