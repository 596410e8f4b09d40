// A CA over plain HTTP whose responses the test can replace. Directory, nonces and accounts work.
import { randomBytes } from 'node:crypto'
import {
  type FakeResponse,
  type FakeServer,
  type ReceivedRequest,
  startFakeServer,
} from '../cli/fake-server.ts'
import type { Scope } from '../system/directory.ts'

interface FaultyCa extends FakeServer {
  directoryUrl: string
  /** The paths of signed requests, in order. */
  posts(): string[]
}

/** `answer` is called first; where it returns null, the CA responds normally. */
export async function startFaultyCa(
  t: Scope,
  response: (asked: ReceivedRequest) => FakeResponse | null,
): Promise<FaultyCa> {
  let base = ''
  const server = await startFakeServer(t, (requested) => {
    const { headers, ...problemHeaders } = response(requested) ?? proper(requested.path, base)
    return {
      ...problemHeaders,
      headers: { 'replay-nonce': randomBytes(9).toString('base64url'), ...headers },
    }
  })
  base = server.url
  return {
    ...server,
    directoryUrl: `${base}/dir`,
    posts: () => server.requests.filter(({ method }) => method === 'POST').map(({ path }) => path),
  }
}

function proper(path: string, base: string): FakeResponse {
  if (path === '/dir') {
    const [newNonce, newAccount, newOrder] = ['nonce', 'account', 'order'].map((name) => `${base}/${name}`)
    return { body: { newNonce, newAccount, newOrder } }
  }
  if (path === '/nonce') return { body: '' }
  if (path === '/account') return { status: 201, body: {}, headers: { location: `${base}/account/1` } }
  return acmeProblem(404, 'malformed', `there is no ${path}`)
}

/** A problem document as CAs send it. */
export function acmeProblem(
  status: number,
  type: string,
  detail: string,
  headers: Record<string, string> = {},
): FakeResponse {
  const problemHeaders = { 'content-type': 'application/problem+json' }
  return {
    status,
    body: { type: `urn:ietf:params:acme:error:${type}`, detail, status },
    headers: { ...problemHeaders, ...headers },
  }
}
