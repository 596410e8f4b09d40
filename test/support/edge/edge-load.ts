// A small constant load on a service through the edge, from several clients, with and without
// keep-alive and bodies.
// Every failed request counts; nothing is retried.
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Scope } from '../system/directory.ts'
import { sized } from '../system/drill-size.ts'

interface Answered {
  /** Times of the request and of its complete response, from `Date.now()`. */
  sentAt: number
  answeredAt: number
  /** The response body, which is the version. */
  version: string
}

interface Load {
  readonly answers: readonly Answered[]
  readonly failures: readonly string[]
  /** Resolves when every client has completed at least one more request, successful or not. */
  round(): Promise<void>
  /** The versions that served requests sent since then. */
  versionsSince(at: number): string[]
  /** Resolves when the last response is complete. */
  stop(): Promise<void>
}

interface LoadOptions {
  port: number
  host: string
  inFlight?: number
  /** The pause between a response and the client's next request. */
  pauseMs?: number
}

const answerMs = 20_000

export function startLoad(t: Scope, options: LoadOptions): Load {
  const { inFlight = 20, pauseMs = sized(25, 5) } = options
  const answers: Answered[] = []
  const failures: string[] = []
  const agent = new Agent({ keepAlive: true })
  const rounds = new Array<number>(inFlight).fill(0)
  let hasEnded = false

  async function keepAsking(client: number): Promise<void> {
    while (!hasEnded) {
      const sentAt = Date.now()
      try {
        const version = await requestOnce(options, agent, rounds[client]!)
        answers.push({ sentAt, answeredAt: Date.now(), version })
      } catch (error) {
        failures.push(`${new Date(sentAt).toISOString()}: ${(error as Error).message}`)
      }
      rounds[client]!++
      await sleep(pauseMs)
    }
  }

  const clients = Promise.all(rounds.map((_, client) => keepAsking(client)))
  const stop = async () => {
    hasEnded = true
    await clients
    agent.destroy()
  }
  t.after(stop)
  return {
    answers,
    failures,
    stop,
    async round() {
      const before = [...rounds]
      while (!hasEnded && rounds.some((count, client) => count < before[client]! + 2)) await sleep(10)
    },
    versionsSince(at) {
      const since = answers.filter(({ sentAt }) => sentAt >= at)
      return [...new Set(since.map(({ version }) => version))].sort()
    },
  }
}

/** Every fourth request has a body, every fifth uses a new connection. */
async function requestOnce({ port, host }: LoadOptions, kept: Agent, turn: number): Promise<string> {
  const body = turn % 4 === 3 ? 'x'.repeat(500 + turn) : undefined
  const agent = turn % 5 === 4 ? (false as const) : kept
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = { port, host: '127.0.0.1', method: body ? 'POST' : 'GET', headers: { host }, agent }
    const asking = request({ ...options, timeout: answerMs }, resolve)
    asking.once('timeout', () => asking.destroy(new Error(`no answer within ${answerMs} ms`)))
    asking.once('error', reject)
    asking.end(body)
  })
  const output = await text(response)
  if (response.statusCode !== 200) throw new Error(`${response.statusCode}: ${output.slice(0, 400)}`)
  return output
}
