// A local server that behaves like GitHub, GitLab and Gitea, as their documentation describes the
// responses: accounts and tokens, pages of repositories, apps from manifests with verified JWTs,
// OAuth with refresh tokens that work once, and repositories behind those tokens. The test plays the
// user in the browser.
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Scope } from './directory.ts'
import { giteaResponse } from './git-provider/gitea.ts'
import { githubResponse } from './git-provider/github.ts'
import { gitlabResponse } from './git-provider/gitlab.ts'
import { oauthResponse } from './git-provider/oauth.ts'
import type { FakeApp, FakeRequest, FakeResponse, FakeState, FakeToken } from './git-provider/state.ts'
import { serveRepository } from './git-server.ts'

export type { FakeRequest, FakeResponse } from './git-provider/state.ts'

export interface FakeProviderOptions {
  /** The folder of the bare repositories, as `owner/name.git`. */
  root?: string
  /** The number of repositories in lists. */
  repositories?: number
  /** Replaces the response to a request; null keeps it. */
  override?: (request: FakeRequest) => FakeResponse | 'hang' | null
}

export interface FakeProvider {
  url: string
  requests: FakeRequest[]
  state: FakeState
  /** A personal access token of the account. */
  createToken(login: string, options?: Partial<FakeToken>): string
  revoke(token: string): void
  /** The user submits the manifest. Returns the code with which GitHub sends the browser back. */
  registerApp(manifest: string, owner: string): string
  /** The user installs the app. Returns the id of the installation. */
  installApp(slug: string, account: string): number
  app(slug: string): FakeApp
  /** The user authorizes the application on the page. Returns what the browser is sent back with. */
  approve(authorizationUrl: string, login: string): { code: string; state: string }
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
    accessSeconds: 7200,
  }
  const requests: FakeRequest[] = []
  const server = createServer(
    (request, response) => void respond({ state, requests, options }, request, response),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return { url: state.url, requests, state, ...userOf(state) }
}

/** What the user does on the pages of the provider. */
function userOf(state: FakeState): Omit<FakeProvider, 'url' | 'requests' | 'state'> {
  return {
    createToken(login, token = {}) {
      const secret = `fake_${randomBytes(20).toString('hex')}`
      state.tokens.set(secret, { login, scopes: [], expiresAt: null, isRevoked: false, ...token })
      return secret
    },
    revoke(token) {
      state.tokens.get(token)!.isRevoked = true
    },
    registerApp(manifest, owner) {
      const { name } = JSON.parse(manifest) as { name: string }
      const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
      const code = randomBytes(20).toString('hex')
      const app: FakeApp = {
        ...{ id: 1000 + state.apps.size, slug: name, owner, code, publicKey, installations: [] },
        // GitHub sends PKCS#1.
        pem: privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
        clientSecret: `cs_${randomBytes(20).toString('hex')}`,
        webhookSecret: `wh_${randomBytes(20).toString('hex')}`,
      }
      state.apps.set(name, app)
      return code
    },
    installApp(slug, account) {
      const id = 5000 + Math.floor(Math.random() * 1e6)
      state.apps.get(slug)!.installations.push({ id, account, isSuspended: false })
      return id
    },
    app: (slug) => state.apps.get(slug)!,
    approve(authorizationUrl, login) {
      const query = new URL(authorizationUrl).searchParams
      const code = randomBytes(20).toString('hex')
      state.codes.set(code, { login, redirectUri: query.get('redirect_uri')!, uses: 0 })
      return { code, state: query.get('state')! }
    },
  }
}

interface Serving {
  state: FakeState
  requests: FakeRequest[]
  options: FakeProviderOptions
}

async function respond(
  { state, requests, options }: Serving,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.url!.includes('.git/')) return serveIfAllowed({ state, requests, options }, request, response)
  const seen = await readRequest(request)
  requests.push(seen)
  const answer = options.override?.(seen) ?? (await responseTo(state, seen))
  if (answer !== 'hang') send(response, answer, state)
}

function serveIfAllowed(
  { state, requests, options }: Serving,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { authorization = '' } = request.headers
  const [, password = ''] = Buffer.from(authorization.replace(/^Basic /, ''), 'base64')
    .toString()
    .split(':')
  requests.push({ method: request.method!, path: request.url!, authorization, body: '' })
  const isPublic = request.url!.includes('/public')
  if (!isPublic && !isValid(state, password)) {
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
