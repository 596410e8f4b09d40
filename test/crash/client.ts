// A persistent client: it repeats a request without a response, with the same key, until it gets one.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer } from '../support/daemon/api.ts'
import type { Ledger } from './ledger.ts'
import type { Victim } from './victim.ts'

export interface ApiRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  path: string
  body?: unknown
  key?: string
}

export interface Client {
  /** The response and the number of attempts. A 5xx is recorded as a violation and returned. */
  request(request: ApiRequest): Promise<Answer & { attempts: number }>
  /** Calls the listener once, before the next modifying request that matches. */
  onNextChange(matches: (request: ApiRequest) => boolean, listener: () => void): void
}

/** Whether a 5xx was expected for a request sent at that time. */
export type Excuse = (answer: Answer, sentAt: number) => boolean

const answerTimeoutMs = 30_000
const timeoutMs = 120_000

export function createClient(victim: Victim, ledger: Ledger, isExcused: Excuse = () => false): Client {
  let waiting: { isMeant: (request: ApiRequest) => boolean; listener: () => void }[] = []

  function reportSent(request: ApiRequest): void {
    const matching = waiting.filter(({ isMeant }) => request.method !== 'GET' && isMeant(request))
    waiting = waiting.filter((one) => !matching.includes(one))
    for (const { listener } of matching) listener()
  }

  async function attempt(request: ApiRequest): Promise<Answer> {
    const { method, path, body, key } = request
    const api = await victim.whenUp()
    const response = api.call(method, path, body, key === undefined ? {} : { 'idempotency-key': key })
    reportSent(request)
    const timeout = AbortSignal.timeout(answerTimeoutMs)
    const silence = new Promise<never>((_, reject) => {
      timeout.addEventListener('abort', () => reject(new TypeError('timed out')))
    })
    return Promise.race([response, silence])
  }

  return {
    async request(request) {
      const deadline = Date.now() + timeoutMs
      for (let attempts = 1; ; attempts++) {
        try {
          const sentAt = performance.now()
          const answer = await attempt(request)
          if (answer.status >= 500 && !isExcused(answer, sentAt)) reportFailure(ledger, request, answer)
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

function reportFailure(ledger: Ledger, { method, path }: ApiRequest, { status, body }: Answer): void {
  ledger.addViolation('no request fails inside', `${method} ${path}: ${status} ${JSON.stringify(body)}`)
}

function count(ledger: Ledger, request: ApiRequest, response: Answer, attempts: number): void {
  const { figures } = ledger
  if (request.method === 'GET') return
  figures.retried += attempts - 1
  if (response.status < 300) figures.acknowledged++
  else figures.refused++
}

/** Whether fetch failed because the connection was refused or lost. */
function isUnanswered(error: unknown): boolean {
  return error instanceof TypeError || error instanceof SyntaxError
}
