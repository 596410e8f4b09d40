// A CA over plain HTTP that refuses, stumbles and lies as a test tells it to; directory, nonces and account
// work.
import { randomBytes } from 'node:crypto'
import { type Answered, type AnsweringServer, type Asked, answeringServer } from './answering-server.ts'
import type { Scope } from './directory.ts'

export interface OddCa extends AnsweringServer {
  directoryUrl: string
  /** The paths of signed requests, in order. */
  posts(): string[]
}

/** `answer` comes first; what it leaves (null) is answered as a CA should. */
export async function startOddCa(t: Scope, answer: (asked: Asked) => Answered | null): Promise<OddCa> {
  let base = ''
  const server = await answeringServer(t, (asked) => {
    const { headers, ...own } = answer(asked) ?? proper(asked.path, base)
    return { ...own, headers: { 'replay-nonce': randomBytes(9).toString('base64url'), ...headers } }
  })
  base = server.url
  return {
    ...server,
    directoryUrl: `${base}/dir`,
    posts: () => server.asked.filter(({ method }) => method === 'POST').map(({ path }) => path),
  }
}

function proper(path: string, base: string): Answered {
  if (path === '/dir') {
    const [newNonce, newAccount, newOrder] = ['nonce', 'account', 'order'].map((name) => `${base}/${name}`)
    return { body: { newNonce, newAccount, newOrder } }
  }
  if (path === '/nonce') return { body: '' }
  if (path === '/account') return { status: 201, body: {}, headers: { location: `${base}/account/1` } }
  return acmeProblem(404, 'malformed', `there is no ${path}`)
}

/** A refusal as CAs send it. */
export function acmeProblem(
  status: number,
  type: string,
  detail: string,
  headers: Record<string, string> = {},
): Answered {
  const own = { 'content-type': 'application/problem+json' }
  return {
    status,
    body: { type: `urn:ietf:params:acme:error:${type}`, detail, status },
    headers: { ...own, ...headers },
  }
}
