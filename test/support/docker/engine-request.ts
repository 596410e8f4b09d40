// Plain HTTP to a Docker engine. Not dockerode: the setup of tests must not depend on the code under test.
import { request } from 'node:http'
import { text } from 'node:stream/consumers'

interface EngineRequest {
  method?: 'GET' | 'POST' | 'DELETE'
  body?: { type: string; bytes: Buffer }
  timeoutMs?: number
}

interface EngineAnswer {
  status: number
  text: string
}

/**
 * Sends a request to the engine at `address`, `unix:///path` or `tcp://host:port`. Rejects only
 * without a response.
 */
export function requestEngine(
  address: string,
  path: string,
  options: EngineRequest = {},
): Promise<EngineAnswer> {
  const { method = 'GET', body, timeoutMs = 30_000 } = options
  const headers = body ? { 'Content-Type': body.type, 'Content-Length': body.bytes.length } : {}
  const signal = AbortSignal.timeout(timeoutMs)
  return new Promise((resolve, reject) => {
    const question = request({ ...target(address), path, method, headers, signal, agent: false })
    question.on('error', reject)
    question.on('response', (response) => {
      text(response).then((words) => resolve({ status: response.statusCode ?? 0, text: words }), reject)
    })
    question.end(body?.bytes)
  })
}

function target(address: string): { socketPath: string } | { host: string; port: string } {
  const url = new URL(address)
  if (url.protocol === 'unix:') return { socketPath: url.pathname }
  if (url.protocol === 'tcp:' || url.protocol === 'http:')
    return { host: url.hostname, port: url.port || '2375' }
  throw new Error(`an engine address begins with unix:// or tcp://, this is ${address}`)
}
