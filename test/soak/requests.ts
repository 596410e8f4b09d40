// The load's HTTP/1.1 requests: quick ones in an open loop, and a constant number of concurrent slow ones.
import { randomBytes } from 'node:crypto'
import { Agent, type ClientRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Chance } from '../crash/random.ts'
import { isSame, isSelf, quickBody } from './answers.ts'
import { type Ask, exchange } from './exchange.ts'
import { runOpenLoop } from './open-loop.ts'
import type { ServiceLoad } from './plan.ts'
import { type RequestSample, type SlowKind, slowKinds } from './sample.ts'

export interface Requests {
  load: ServiceLoad
  chance: Chance
  isOver(): boolean
  report(sample: RequestSample): void
}

/** Closes idle connections long before the edge would, after 15 s: a request may meet that close. */
const idleMs = 5_000
const uploadTickMs = 200

/** Resolves when the last response is complete. */
export async function runQuick({ load, chance, isOver, report }: Requests): Promise<void> {
  const agent = new Agent({ keepAlive: true, timeout: idleMs })
  await runOpenLoop(load.perSecond, isOver, async () => report(await exchange(load, quickAsk(chance, agent))))
  agent.destroy()
}

/** Sends one slow request after another until the end. Resolves when the last response is complete. */
export async function runSlow({ load, chance, isOver, report }: Requests): Promise<void> {
  const agent = new Agent({ keepAlive: true, timeout: idleMs })
  while (!isOver()) {
    const sample = await exchange(load, slowAsk(load, chance, chance.isTrue(0.7) ? agent : null))
    report(sample)
    // A pause keeps repetitions from hiding the first failure.
    if (sample.fault !== null) await sleep(500)
  }
  agent.destroy()
}

function quickAsk(chance: Chance, kept: Agent): Ask {
  const agent = chance.isTrue(0.8) ? kept : null
  const ask = { agent, takesMs: 0 }
  if (chance.isTrue(0.75)) return { ...ask, kind: 'get', method: 'GET', path: '/', send: end, check: isSelf }
  const body = quickBody(chance)
  const send = (request: ClientRequest) => end(request, body)
  return { ...ask, kind: 'post', method: 'POST', path: '/echo', send, check: isSame(body) }
}

function slowAsk({ slowMs }: ServiceLoad, chance: Chance, agent: Agent | null): Ask {
  const kind = chance.pick(slowKinds)
  const takesMs = Math.round(chance.between(slowMs.least, slowMs.most))
  const ask = { kind, agent, takesMs }
  if (kind === 'uploading') return { ...ask, ...upload(takesMs) }
  return { ...ask, method: 'GET', path: slowPath(kind, takesMs), send: end, check: isDone }
}

function slowPath(kind: SlowKind, ms: number): string {
  return `/slow?ms=${ms}${kind === 'streaming' ? '&stream' : ''}`
}

/** A slowly sent body. */
function upload(takesMs: number): Pick<Ask, 'method' | 'path' | 'send' | 'check'> {
  const chunks = Array.from({ length: Math.ceil(takesMs / uploadTickMs) }, () => randomBytes(256))
  const send = (request: ClientRequest) => {
    let sent = 0
    const timer = setInterval(() => {
      if (sent < chunks.length) return void request.write(chunks[sent++])
      clearInterval(timer)
      request.end()
    }, uploadTickMs)
    return () => clearInterval(timer)
  }
  return { method: 'POST', path: '/echo', send, check: isSame(Buffer.concat(chunks)) }
}

function isDone(body: Buffer): string | null {
  const text = body.toString()
  return text.endsWith('done') ? null : `the answer ends with '${text.slice(-20)}'`
}

function end(request: ClientRequest, body?: Buffer): () => void {
  request.end(body)
  return () => undefined
}
