// A persistent client: it repeats a request without a response, with the same key, until it gets one.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer, Body } from '../support/daemon/api.ts'
import type { Incidents } from './incidents.ts'
import type { Ledger, Order } from './ledger.ts'
import type { Victim } from './victim.ts'

export interface ApiRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  body?: unknown
  /** A POST has one of its own by default. */
  key?: string
}

type IsMeant = (request: ApiRequest) => boolean
type MayBeRefused = (answer: Answer) => boolean

const answerTimeoutMs = 30_000
const timeoutMs = 120_000
const deletionTimeoutMs = 150_000
const engineCodes = ['docker_unavailable', 'docker_error']

export type Client = ReturnType<typeof createClient>

export function createClient(victim: Victim, ledger: Ledger, incidents: Incidents) {
  const { figures } = ledger
  let waiting: { isMeant: IsMeant; hear: () => void }[] = []

  function reportSent(request: ApiRequest): void {
    const matching = waiting.filter(({ isMeant }) => request.method !== 'GET' && isMeant(request))
    waiting = waiting.filter((one) => !matching.includes(one))
    for (const { hear } of matching) hear()
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

  /** The response and the number of attempts. A 5xx is a violation, unless Docker was away. */
  async function send(asked: ApiRequest): Promise<Answer & { attempts: number }> {
    const request = asked.method === 'POST' ? { key: randomUUID(), ...asked } : asked
    const deadline = Date.now() + timeoutMs
    for (let attempts = 1; ; attempts++) {
      try {
        const sentAt = Date.now()
        const answer = await attempt(request)
        const isExcused = engineCodes.includes(answer.body?.code) && incidents.wasEngineAway(sentAt)
        if (answer.status >= 500 && !isExcused) violate('no request fails inside', request, answer)
        if (request.method === 'GET') return { ...answer, attempts }
        figures.retried += attempts - 1
        figures[answer.status < 300 ? 'acknowledged' : 'refused']++
        return { ...answer, attempts }
      } catch (error) {
        if (!isUnanswered(error) || Date.now() > deadline) throw error
        await sleep(20)
      }
    }
  }

  function violate(rule: string, { method, path }: ApiRequest, answer: Answer): void {
    ledger.addViolation(rule, `${method} ${path}: ${describe(answer)}`)
  }

  /** The body of a success. Null if the server refused it, which is a violation unless it may do so. */
  async function ask(request: ApiRequest, mayBeRefused: MayBeRefused = () => false): Promise<Body | null> {
    const answer = await send(request)
    if (answer.status < 300) return answer.body
    if (!mayBeRefused(answer)) violate('responses follow the chart', request, answer)
    return null
  }

  return {
    send,
    ask,
    async get(path: string): Promise<Body> {
      const answer = await send({ method: 'GET', path })
      if (answer.status === 200) return answer.body
      throw new Error(`GET ${path}: ${describe(answer)}`)
    },
    /** A POST whose repetition must return the same object; an acknowledged one is recorded. */
    async order(
      path: string,
      body: unknown,
      rules: { mayBeRefused?: MayBeRefused } & Partial<Pick<Order, 'idIn' | 'isGone'>> = {},
    ): Promise<Body | null> {
      const { mayBeRefused, idIn = ({ id }) => id, isGone = () => false } = rules
      const key = randomUUID()
      const answer = await ask({ method: 'POST', path, body, key }, mayBeRefused)
      const id = answer && idIn(answer)
      if (id) ledger.orders.push({ path, key, body, id, idIn, isGone })
      return answer
    },
    async repeat({ path, key, body, id, idIn, isGone }: Order): Promise<void> {
      const answer = await send({ method: 'POST', path, key, body })
      figures.duplicates++
      const isSame = answer.status < 300 && idIn(answer.body) === id
      if (isSame || (answer.status === 404 && isGone())) return
      ledger.addViolation(
        'the same key gives the same object',
        `POST ${path} gave ${id}, then ${describe(answer)}`,
      )
    },
    /** Deletes an object, and waits until it is gone. */
    async remove(path: string, options: string, onAcknowledged: () => void = () => {}): Promise<void> {
      const request: ApiRequest = { method: 'DELETE', path: `${path}?${options}` }
      const answer = await send(request)
      // A repeated request finds nothing if the first one succeeded without a response.
      const isDone = answer.status < 300 || (answer.status === 404 && answer.attempts > 1)
      if (!isDone) return violate('responses follow the chart', request, answer)
      onAcknowledged()
      for (const deadline = Date.now() + deletionTimeoutMs; ; await sleep(50)) {
        if ((await send({ method: 'GET', path })).status === 404) return
        if (Date.now() > deadline)
          return ledger.addViolation('a deleted object is removed', `${path} still exists`)
      }
    },
    /** Calls the listener once, before the next modifying request that matches. */
    onNextChange: (isMeant: IsMeant, hear: () => void) => void waiting.push({ isMeant, hear }),
  }
}

function describe({ status, body }: Answer): string {
  return `${status} ${body?.code ?? body?.id}: ${body?.detail ?? body?.status}`
}

/** Whether fetch failed because the connection was refused or lost. */
function isUnanswered(error: unknown): boolean {
  return error instanceof TypeError || error instanceof SyntaxError
}
