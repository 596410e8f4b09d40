// Stands in for the edge: answers challenges for every host.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Scope } from '../system/directory.ts'

export interface ChallengeServer {
  type: 'http-01'
  /** Responses by token. */
  answers: Map<string, string>
  /** Every requested path. */
  asked: string[]
  /** All tokens that were ever added, including removed ones. */
  shown: string[]
  put(token: string, keyAuthorization: string): Promise<void>
  drop(token: string): Promise<void>
  /** Stops listening; `comeBack` listens again. */
  leave(): Promise<void>
  comeBack(): Promise<void>
}

const path = '/.well-known/acme-challenge/'

export async function startChallengeServer(t: Scope, address: string, port = 80): Promise<ChallengeServer> {
  const answers = new Map<string, string>()
  const asked: string[] = []
  const shown: string[] = []
  const server = createServer(({ url = '' }, response) => {
    asked.push(url)
    const answer = url.startsWith(path) ? answers.get(url.slice(path.length)) : undefined
    response.writeHead(answer === undefined ? 404 : 200, { connection: 'close' }).end(answer ?? 'not here')
  })
  const listen = async () => {
    const listening = once(server, 'listening')
    server.listen(port, address)
    await listening
  }
  const leave = async () => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
  await listen()
  t.after(leave)
  return {
    type: 'http-01',
    answers,
    asked,
    shown,
    leave,
    comeBack: listen,
    async put(token, keyAuthorization) {
      answers.set(token, keyAuthorization)
      shown.push(token)
    },
    async drop(token) {
      answers.delete(token)
    },
  }
}
