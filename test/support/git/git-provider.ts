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
import { accessStatus } from './git-provider/repositories.ts'
import type { FakeRequest, FakeResponse, FakeState } from './git-provider/state.ts'
import { type FakeUser, openUser } from './git-provider/user.ts'
import { serveRepository } from './git-server.ts'

export type { FakeRequest, FakeResponse } from './git-provider/state.ts'

export interface FakeProviderOptions {
  /** The folder of the bare repositories, as `owner/name.git`. */
  root?: string
  /** The name of the host in addresses; by default its address. */
  host?: string
  /** Where it listens; by default 127.0.0.1 and a free port. */
  listen?: { address: string; port: number }
  /** Where its OAuth application may send the browser back to. */
  redirectUri?: string
  /** The number of repositories in lists. */
  repositories?: number
  /** Replaces the response to a request; null keeps it. */
  override?: (request: FakeRequest) => Override | Promise<Override>
}

/** `cut` closes the connection without a response. */
export type Override = FakeResponse | 'hang' | 'cut' | null

export interface FakeProvider extends FakeUser {
  url: string
  requests: FakeRequest[]
  state: FakeState
}

export async function createGitProvider(t: Scope, options: FakeProviderOptions = {}): Promise<FakeProvider> {
  const { redirectUri = 'https://berth.example.com/git/callback' } = options
  const state: FakeState = {
    url: '',
    repositories: options.repositories ?? 3,
    indexOf: (place) => place,
    tokens: new Map(),
    codes: new Map(),
    apps: new Map(),
    refreshTokens: new Map(),
    clients: new Map([['client', { secret: 'the client secret', redirectUris: [redirectUri] }]]),
    clockOffsetMs: 0,
    publicRepositories: [],
    uninstalledRepositories: [],
    renamed: new Map(),
    accessSeconds: 7200,
    linksLastPage: true,
    statuses: [],
    checks: new Map(),
    hasCommit: (_, sha) => /^[0-9a-f]{40}$/.test(sha),
    answersLost: () => false,
    isLimited: false,
  }
  const requests: FakeRequest[] = []
  const user = openUser(state)
  const server = createServer(
    (request, response) => void respond({ state, user, requests, options }, request, response),
  )
  const { address, port } = options.listen ?? { address: '127.0.0.1', port: 0 }
  await new Promise<void>((resolve) => server.listen(port, address, resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const { origin } = new URL(`http://${options.host ?? address}:${(server.address() as AddressInfo).port}`)
  state.url = origin

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
  const isGit = request.url!.includes('.git/')
  const seen = await readRequest(request, !isGit)
  requests.push(seen)
  const changed = (await options.override?.(seen)) ?? redirectOf(state, seen)
  if (changed === 'hang') return
  if (changed === 'cut') return void request.destroy()
  if (changed === null && isGit) return serveIfAllowed(state, seen, options.root!, request, response)
  const answer = changed ?? pageResponse(state, user, seen) ?? (await responseTo(state, seen))
  if (!state.answersLost(seen)) send(response, answer, state)
}

/** That of a repository that was renamed. */
function redirectOf({ renamed }: FakeState, { path }: FakeRequest): FakeResponse | null {
  for (const [former, present] of renamed) {
    const [start, end] = path.split(new RegExp(`(?<=/)${former}(?=\\.git/|/|$)`))
    if (end !== undefined) return { status: 301, headers: { location: `${start}${present}${end}` } }
  }
  return null
}

function serveIfAllowed(
  state: FakeState,
  seen: FakeRequest,
  root: string,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const status = accessStatus(state, seen)
  if (status === 200) serveRepository({ root }, request, response)
  else response.writeHead(status, status === 401 ? { 'www-authenticate': 'Basic realm="git"' } : {}).end()
}

async function readRequest(request: IncomingMessage, hasBody: boolean): Promise<FakeRequest> {
  const chunks: Buffer[] = []
  if (hasBody) for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return {
    method: request.method!,
    path: request.url!,
    authorization: request.headers.authorization ?? '',
    userAgent: request.headers['user-agent'] ?? '',
    body: Buffer.concat(chunks).toString(),
  }
}

async function responseTo(state: FakeState, request: FakeRequest): Promise<FakeResponse> {
  const { path } = request
  const missing: FakeResponse = { status: 404, body: { message: 'Not Found' } }
  // GitLab redirects a repository without `.git`.
  const [, bare, rest] = /^(\/[^?]+?)(\/info\/refs\?service=git-upload-pack)$/.exec(path) ?? []
  if (bare) return { status: 301, headers: { location: `${state.url}${bare}.git${rest}` } }
  if (path.startsWith('/oauth/token') || path.startsWith('/login/oauth/'))
    return oauthResponse(state, request)
  if (path.startsWith('/api/v3/'))
    return withLimit('github', (await githubResponse(state, request)) ?? missing)
  if (path.startsWith('/api/v4/')) return withLimit('gitlab', gitlabResponse(state, request) ?? missing)
  if (path.startsWith('/api/v1/')) return giteaResponse(state, request) ?? missing
  return missing
}

const limits = {
  github: (reset: string) => ({
    'x-ratelimit-limit': '5000',
    'x-ratelimit-remaining': '4999',
    'x-ratelimit-used': '1',
    'x-ratelimit-reset': reset,
    'x-ratelimit-resource': 'core',
  }),
  gitlab: (reset: string) => ({
    'ratelimit-limit': '2000',
    'ratelimit-remaining': '1999',
    'ratelimit-observed': '1',
    'ratelimit-reset': reset,
    'ratelimit-name': 'throttle_authenticated_api',
  }),
}

/** Also a response before the limit says how much of it is left. */
function withLimit(dialect: keyof typeof limits, response: FakeResponse): FakeResponse {
  const reset = String(Math.floor(Date.now() / 1000) + 60 * 60)
  return { ...response, headers: { ...limits[dialect](reset), ...response.headers } }
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
