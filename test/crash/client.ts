// A client that does not let go: a request that got no answer is sent again, with the same key, until it gets
// one.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer } from '../support/api.ts'
import type { Ledger } from './ledger.ts'
import type { Victim } from './victim.ts'

export interface AskedRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  path: string
  body?: unknown
  key?: string
}

export interface Client {
  /** The answer, and how often it took. A 5xx is a breach and comes back as the answer. */
  ask(request: AskedRequest): Promise<Answer & { attempts: number }>
  /** Calls the listener once, when the next request is sent that changes something and is of that kind. */
  onNextChange(isMeant: (request: AskedRequest) => boolean, listener: () => void): void
}

/** Whether an answer that failed inside was to be expected of a request that was sent at that time. */
export type Excuse = (answer: Answer, sentAt: number) => boolean

const answerTimeoutMs = 30_000
const patienceMs = 120_000

export function createClient(victim: Victim, ledger: Ledger, isExcused: Excuse = () => false): Client {
  let waiting: { isMeant: (request: AskedRequest) => boolean; listener: () => void }[] = []

  function tellSent(request: AskedRequest): void {
    const met = waiting.filter(({ isMeant }) => request.method !== 'GET' && isMeant(request))
    waiting = waiting.filter((one) => !met.includes(one))
    for (const { listener } of met) listener()
  }

  async function attempt(request: AskedRequest): Promise<Answer> {
    const { method, path, body, key } = request
    const api = await victim.whenUp()
    const answer = api.call(method, path, body, key === undefined ? {} : { 'idempotency-key': key })
    tellSent(request)
    const timeout = AbortSignal.timeout(answerTimeoutMs)
    const silence = new Promise<never>((_, reject) => {
      timeout.addEventListener('abort', () => reject(new TypeError('no answer in time')))
    })
    return Promise.race([answer, silence])
  }

  return {
    async ask(request) {
      const deadline = Date.now() + patienceMs
      for (let attempts = 1; ; attempts++) {
        try {
          const sentAt = performance.now()
          const answer = await attempt(request)
          if (answer.status >= 500 && !isExcused(answer, sentAt)) tellFailure(ledger, request, answer)
          count(ledger, request, answer, attempts)
          return { ...answer, attempts }
        } catch (error) {
          if (!isUnanswered(error) || Date.now() > deadline) throw error
          await sleep(20)
        }
      }
    },
    onNextChange: (isMeant, listener) => void waiting.push({ isMeant, listener }),
  }
}

function tellFailure(ledger: Ledger, { method, path }: AskedRequest, { status, body }: Answer): void {
  ledger.breach('no request fails inside', `${method} ${path}: ${status} ${JSON.stringify(body)}`)
}

function count(ledger: Ledger, request: AskedRequest, answer: Answer, attempts: number): void {
  const { figures } = ledger
  if (request.method === 'GET') return
  figures.retried += attempts - 1
  if (answer.status < 300) figures.acknowledged++
  else figures.refused++
}

/** The connection was refused or broke off: what fetch says when the other side is gone. */
function isUnanswered(error: unknown): boolean {
  return error instanceof TypeError || error instanceof SyntaxError
}
