// What a user does at the fake provider.
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import type { FakeApp, FakeState, FakeToken } from './state.ts'

export interface FakeUser {
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

/** Of all apps: an RSA key takes a quarter of a second. */
let keys: ReturnType<typeof createKeys> | null = null
const createKeys = () => generateKeyPairSync('rsa', { modulusLength: 2048 })

export function openUser(state: FakeState): FakeUser {
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
      const { name, setup_url: setupUrl } = JSON.parse(manifest) as { name: string; setup_url: string }
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
      const code = randomBytes(20).toString('hex')
      state.codes.set(code, { login, redirectUri: query.get('redirect_uri')!, uses: 0 })
      return { code, state: query.get('state')! }
    },
  }
}
