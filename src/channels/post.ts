// Sends a message over HTTP, bounded in time and size. Redirects are not followed: the message and the
// credentials are for one host. No name may lead to the metadata service of a cloud.
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { lookupPublicOrPrivate, refuseInternalHost } from '../address-check.ts'
import { codeOf, Failure, messageOf } from '../errors.ts'
import { excerptOf, unreachable } from './channel.ts'

interface PostRequest {
  url: string
  headers?: Record<string, string>
  body: string
  /** They are masked in what is kept of the answer. */
  secrets: readonly (string | null)[]
}

const maxAnswerBytes = 16 * 1024

/** Resolves with the status of the answer, 200 to 299. Throws `channel_unreachable`, `message_rejected`. */
export async function post(request: PostRequest, signal: AbortSignal): Promise<number> {
  const { host } = new URL(request.url)
  const sent = { isComplete: false }
  try {
    const answer = await send(request, sent, signal)
    const { statusCode: status = 0 } = answer
    if (status >= 200 && status < 300) {
      answer.destroy()
      return status
    }
    throw toRejection(host, answer, excerptOf(await readStart(answer), request.secrets))
  } catch (error) {
    if (error instanceof Failure || signal.aborted) throw error
    const text = `${host} cannot be reached: ${reasonOf(error)}`
    throw unreachable(text, { mayHaveArrived: sent.isComplete })
  }
}

async function send({ url, headers, body }: PostRequest, sent: { isComplete: boolean }, signal: AbortSignal) {
  refuseInternalHost(url)
  const options = {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'berth', ...headers },
    signal,
    agent: false as const,
    lookup: lookupPublicOrPrivate,
  }
  const start = url.startsWith('https:') ? requestHttps : requestHttp
  return new Promise<IncomingMessage>((resolve, reject) => {
    const request = start(url, options, resolve).once('error', reject)
    request.once('finish', () => {
      sent.isComplete = true
    })
    request.end(body)
  })
}

async function readStart(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      length += chunk.length
      if (length > maxAnswerBytes) break
    }
  } catch {
    // The status has arrived, and is the answer.
  }
  answer.destroy()
  return Buffer.concat(chunks).subarray(0, maxAnswerBytes).toString()
}

function toRejection(host: string, { statusCode: status = 0, headers }: IncomingMessage, said: string) {
  const isRedirect = status >= 300 && status < 400
  const hint = isRedirect ? ', which is not followed: use the address that it leads to' : ''
  const text = `${host} answered ${status}${hint}${said && !isRedirect ? `: ${said}` : ''}`
  const retryAfterMs = Math.ceil(Number(headers['retry-after']) * 1000)
  return new Failure('message_rejected', text).with({
    status,
    ...(retryAfterMs > 0 && { retry_after_ms: retryAfterMs }),
    // The receiver asks for no more messages.
    ...(status === 410 && { is_final: 1 }),
  })
}

function reasonOf(error: unknown): string {
  const reasons: Record<string, string> = {
    ECONNREFUSED: 'nothing listens there',
    ECONNRESET: 'it closed the connection',
    ENOTFOUND: 'its host name does not exist',
    EAI_AGAIN: 'its host name could not be resolved now',
    EHOSTUNREACH: 'there is no route to it',
    ETIMEDOUT: 'it does not respond',
  }
  return reasons[codeOf(error)] ?? messageOf(error)
}
