// A local server that behaves like GitHub, GitLab and Gitea, as their documentation describes the
// responses: accounts and tokens, pages of repositories, apps from manifests with verified JWTs,
// OAuth with refresh tokens that work once, and repositories behind those tokens. The test plays the
// user in the browser.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Scope } from '../system/directory.ts'
import { giteaResponse } from './git-provider/gitea.ts'
import { githubResponse } from './git-provider/github.ts'
import { gitlabResponse } from './git-provider/gitlab.ts'
import { oauthResponse } from './git-provider/oauth.ts'
import { pageResponse } from './git-provider/pages.ts'
import type { FakeRequest, FakeResponse, FakeState } from './git-provider/state.ts'
import { type FakeUser, openUser } from './git-provider/user.ts'
import { serveRepository } from './git-server.ts'

export type { FakeRequest, FakeResponse } from './git-provider/state.ts'

export interface FakeProviderOptions {
  /** The folder of the bare repositories, as `owner/name.git`. */
  root?: string
  /** The name of the host in addresses; 127.0.0.1 by default. */
  host?: string
  /** The number of repositories in lists. */
  repositories?: number
  /** Replaces the response to a request; null keeps it. */
  override?: (request: FakeRequest) => FakeResponse | 'hang' | null
}

export interface FakeProvider extends FakeUser {
  url: string
  requests: FakeRequest[]
  state: FakeState
}

export async function createGitProvider(t: Scope, options: FakeProviderOptions = {}): Promise<FakeProvider> {
  const state: FakeState = {
    url: '',
    repositories: options.repositories ?? 3,
    tokens: new Map(),
    codes: new Map(),
    apps: new Map(),
    refreshTokens: new Map(),
    clients: new Map([['client', 'the client secret']]),
    clockOffsetMs: 0,
    uninstalledRepositories: [],
    accessSeconds: 7200,
  }
  const requests: FakeRequest[] = []
  const user = openUser(state)
  const server = createServer(
    (request, response) => void respond({ state, user, requests, options }, request, response),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  state.url = `http://${options.host ?? '127.0.0.1'}:${(server.address() as AddressInfo).port}`

  return { url: state.url, requests, state, ...user }
}

interface Serving {
  state: FakeState
  user: FakeUser
  requests: FakeRequest[]
  options: FakeProviderOptions
}

async function respond(
  { state, user, requests, options }: Serving,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.url!.includes('.git/')) return serveIfAllowed({ state, requests, options }, request, response)
  const seen = await readRequest(request)
  requests.push(seen)
  const answer =
    options.override?.(seen) ?? pageResponse(state, user, seen) ?? (await responseTo(state, seen))
  if (answer !== 'hang') send(response, answer, state)
}

function serveIfAllowed(
  { state, requests, options }: Omit<Serving, 'user'>,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { authorization = '' } = request.headers
  const [, password = ''] = Buffer.from(authorization.replace(/^Basic /, ''), 'base64')
    .toString()
    .split(':')
  requests.push({ method: request.method!, path: request.url!, authorization, body: '' })
  const isPublic = request.url!.includes('/public')
  const name = /([^/]+)\.git\//.exec(request.url!)![1]!
  const isNarrow = state.tokens.get(password)?.repositories?.includes(name) === false
  if (!isPublic && (isNarrow || !isValid(state, password))) {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
  } else serveRepository({ root: options.root! }, request, response)
}

function isValid(state: FakeState, token: string): boolean {
  const known = state.tokens.get(token)
  return (
    known !== undefined && !known.isRevoked && !(known.expiresAt && Date.parse(known.expiresAt) < Date.now())
  )
}

async function readRequest(request: IncomingMessage): Promise<FakeRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return {
    method: request.method!,
    path: request.url!,
    authorization: request.headers.authorization ?? '',
    body: Buffer.concat(chunks).toString(),
  }
}

async function responseTo(state: FakeState, request: FakeRequest): Promise<FakeResponse> {
  const { path } = request
  const missing: FakeResponse = { status: 404, body: { message: 'Not Found' } }
  if (path.startsWith('/oauth/token') || path.startsWith('/login/oauth/'))
    return oauthResponse(state, request)
  if (path.startsWith('/api/v3/')) return (await githubResponse(state, request)) ?? missing
  if (path.startsWith('/api/v4/')) return gitlabResponse(state, request) ?? missing
  if (path.startsWith('/api/v1/')) return giteaResponse(state, request) ?? missing
  return missing
}

function send(
  response: ServerResponse,
  { status, body, headers = {}, text }: FakeResponse,
  state: FakeState,
): void {
  const date = new Date(Date.now() + state.clockOffsetMs).toUTCString()
  const type = text === undefined ? 'application/json' : 'text/html'
  response.writeHead(status, { date, 'content-type': type, ...headers })
  response.end(text ?? (body === undefined ? '' : JSON.stringify(body)))
}
