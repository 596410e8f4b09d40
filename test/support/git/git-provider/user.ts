// What a user does at the fake provider.
import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import type { FakeApp, FakeState, FakeToken } from './state.ts'

export interface FakeUser {
  /** A personal access token of the account. */
  createToken(login: string, options?: Partial<FakeToken> & { secret?: string }): string
  revoke(token: string): void
  /** The user submits the manifest. Returns the code with which GitHub sends the browser back. */
  registerApp(manifest: string, owner: string): string
  /** The user installs the app. Returns the id of the installation. */
  installApp(slug: string, account: string): number
  app(slug: string): FakeApp
  /** The user authorizes the application on the page. Returns what the browser is sent back with. */
  approve(authorizationUrl: string, login: string): { code: string; state: string }
}

/** Of all apps: an RSA key takes a quarter of a second. */
let keys: ReturnType<typeof createKeys> | null = null
const createKeys = () => generateKeyPairSync('rsa', { modulusLength: 2048 })

/** What a user needs to choose for a token, at each provider. */
const personalScopes = ['repo', 'read_api', 'read_repository', 'read:repository', 'read:user']
const oauthScopes = ['api', 'read_api', 'read_repository', 'read:repository', 'read:user', 'write:repository']

/** What the page of an OAuth authorization refuses before it asks the user. */
export function findProblem({ clients }: FakeState, query: URLSearchParams): string | null {
  const client = clients.get(query.get('client_id') ?? '')
  if (!client) return 'the client is unknown'
  if (!client.redirectUris.includes(query.get('redirect_uri') ?? '')) return 'the redirect URI is unknown'
  if (query.get('response_type') !== 'code') return 'the response type is not supported'
  const scopes = (query.get('scope') ?? '').split(' ')
  return scopes.every((scope) => oauthScopes.includes(scope)) ? null : 'a scope is invalid or unknown'
}

const manifestKeys = [
  'name',
  'url',
  'hook_attributes',
  'redirect_url',
  'callback_urls',
  'setup_url',
  'description',
  'public',
  'default_events',
  'default_permissions',
  'request_oauth_on_install',
  'setup_on_update',
]
const permissions = ['contents', 'metadata', 'statuses', 'checks', 'pull_requests']
const levels = ['read', 'write']
/** The permission that an app needs for an event. */
const permissionsOfEvents: Record<string, string> = {
  push: 'contents',
  create: 'contents',
  delete: 'contents',
  repository: 'metadata',
  check_run: 'checks',
  check_suite: 'checks',
  status: 'statuses',
  pull_request: 'pull_requests',
}
const maxNameLength = 34

/** Throws for a manifest that GitHub refuses. */
function checkManifest(text: string): void {
  const manifest = JSON.parse(text) as Record<string, unknown>
  const unknown = Object.keys(manifest).filter((key) => !manifestKeys.includes(key))
  assert.deepEqual(unknown, [], 'GitHub knows no such keys of a manifest')
  assert.ok(String(manifest.name).length <= maxNameLength, 'the name of the app is too long')
  assert.ok(URL.canParse(String(manifest.url)), 'url is required')
  assert.ok(URL.canParse(String(manifest.redirect_url)), 'redirect_url is required')
  const granted = (manifest.default_permissions ?? {}) as Record<string, string>
  for (const [name, level] of Object.entries(granted))
    assert.ok(permissions.includes(name) && levels.includes(level), `permission ${name}`)
  for (const event of (manifest.default_events ?? []) as string[])
    assert.ok((permissionsOfEvents[event] ?? '') in granted, `no permission for the event ${event}`)
  const hook = manifest.hook_attributes as { url?: string } | undefined
  if (hook) assert.ok(URL.canParse(hook.url ?? ''), 'hook_attributes.url is required')
}

export function openUser(state: FakeState): FakeUser {
  return {
    createToken(login, { secret = `fake_${randomBytes(20).toString('hex')}`, ...token } = {}) {
      const whole: FakeToken = {
        login,
        kind: 'personal',
        scopes: [...personalScopes],
        groups: [],
        expiresAt: null,
        isRevoked: false,
        repositories: null,
      }
      state.tokens.set(secret, { ...whole, ...token })
      return secret
    },
    revoke(token) {
      state.tokens.get(token)!.isRevoked = true
    },
    registerApp(manifest, owner) {
      checkManifest(manifest)
      const {
        name,
        setup_url: setupUrl,
        default_permissions: permissions,
      } = JSON.parse(manifest) as {
        name: string
        setup_url: string
        default_permissions: Record<string, string>
      }
      keys ??= createKeys()
      const { privateKey, publicKey } = keys
      const code = randomBytes(20).toString('hex')
      const app: FakeApp = {
        id: 1000 + state.apps.size,
        slug: name,
        owner,
        code,
        publicKey,
        setupUrl,
        permissions,
        installations: [],
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
      const problem = findProblem(state, query)
      if (problem !== null) throw new Error(`the provider refuses the authorization: ${problem}`)
      const code = randomBytes(20).toString('hex')
      const [clientId, redirectUri] = [query.get('client_id')!, query.get('redirect_uri')!]
      const scopes = query.get('scope')!.split(' ')
      state.codes.set(code, { login, scopes, clientId, redirectUri, uses: 0 })
      return { code, state: query.get('state')! }
    },
  }
}
