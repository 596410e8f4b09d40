// A GitHub App of this server: registration, installations, and the tokens from its private key.
import { createPrivateKey, randomBytes } from 'node:crypto'
import { SignJWT } from 'jose'
import { z } from 'zod'
import { github } from './github.ts'
import { ask, type Instance, parseResponse, webUrl } from './provider.ts'
import { ProviderRejection, type ProviderRequest, type ProviderResponse } from './request.ts'

const Conversion = z
  .object({
    id: z.int(),
    slug: z.string(),
    html_url: webUrl,
    client_id: z.string(),
    client_secret: z.string(),
    pem: z.string(),
    webhook_secret: z.string().nullish(),
    owner: z.object({ login: z.string() }),
  })
  .transform((app) => ({
    appId: app.id,
    clientId: app.client_id,
    clientSecret: app.client_secret,
    privateKey: app.pem,
    webhookSecret: app.webhook_secret ?? null,
    slug: app.slug,
    url: app.html_url,
    owner: app.owner.login,
  }))
export type RegisteredApp = z.output<typeof Conversion>
export type GithubApp = Omit<RegisteredApp, 'slug' | 'url' | 'owner'>

const InstallationResponse = z
  .object({
    id: z.int(),
    account: z.object({ login: z.string() }),
    html_url: webUrl,
    repository_selection: z.string().nullish(),
    suspended_at: z.string().nullish(),
    permissions: z.record(z.string(), z.string()).nullish(),
  })
  .transform((one) => ({
    id: one.id,
    account: one.account.login,
    /** Where the account chooses the repositories of the app. */
    manageUrl: one.html_url,
    selection: one.repository_selection === 'all' ? ('all' as const) : ('selected' as const),
    isSuspended: Boolean(one.suspended_at),
    /** What the account approved, as in `contents:read`. */
    scopes: Object.entries(one.permissions ?? {}).map(([name, level]) => `${name}:${level}`),
  }))
export type Installation = z.output<typeof InstallationResponse>

const TokenResponse = z.object({ token: z.string().min(1) })

/** GitHub accepts tokens for an app of at most ten minutes, and rejects those from the future. */
const jwtLifetimeSeconds = 9 * 60
const jwtLeewaySeconds = 60
/** App names are unique across GitHub. */
const maxNameLength = 34

interface Registration {
  organization: string | null
  redirectUri: string
  state: string
  /** Where GitHub sends pushes to; null if it cannot reach this server. */
  hookUrl: string | null
  /** The app may then write statuses of commits, and read checks. */
  reportsDeploys: boolean
}

/** The page that registers the app, and the manifest that the browser posts to it. */
export function registrationForm(
  { baseUrl }: Pick<Instance, 'baseUrl'>,
  { organization, redirectUri, state, hookUrl, reportsDeploys }: Registration,
): { url: string; manifest: string } {
  const path = organization ? `/organizations/${organization}/settings/apps/new` : '/settings/apps/new'
  const { origin, hostname } = new URL(redirectUri)
  const events = reportsDeploys ? ['push', 'check_suite', 'status'] : ['push']
  const manifest = {
    name: appName(hostname),
    url: origin,
    description: 'Reads repositories for deploys by Berth.',
    redirect_url: redirectUri,
    callback_urls: [redirectUri],
    setup_url: redirectUri,
    setup_on_update: true,
    public: false,
    request_oauth_on_install: false,
    default_permissions: {
      contents: 'read',
      metadata: 'read',
      ...(reportsDeploys && { statuses: 'write', checks: 'read' }),
    },
    ...(hookUrl && { hook_attributes: { url: hookUrl, active: true }, default_events: events }),
  }
  return { url: `${baseUrl}${path}?state=${state}`, manifest: JSON.stringify(manifest) }
}

function appName(hostname: string): string {
  const suffix = randomBytes(3).toString('hex')
  const host = hostname.replace(/[^a-z0-9]+/gi, '-').replace(/^-+|-+$/g, '')
  const name = `berth-${host}`.slice(0, maxNameLength - suffix.length - 1)
  return `${name.replace(/-+$/, '')}-${suffix}`
}

/** Exchanges the code of a registration for the app's credentials. The code works only once. */
export async function convertManifest(instance: Instance, code: string): Promise<RegisteredApp> {
  const url = `${github.apiUrl(instance.baseUrl)}/app-manifests/${encodeURIComponent(code)}/conversions`
  return parseResponse(Conversion, instance, await ask(instance, { method: 'POST', url }))
}

export function installationUrl(appUrl: string, state: string): string {
  return `${appUrl}/installations/new?state=${state}`
}

/** A private app has at most the installation on its owner's account. */
export async function findInstallation(instance: Instance, app: GithubApp): Promise<Installation | null> {
  const response = await askAsApp(instance, app, { path: '/app/installations' })
  return parseResponse(z.array(InstallationResponse), instance, response)[0] ?? null
}

/** Throws `ProviderRejection` with 404 for an installation of another app. */
export async function readInstallation(
  instance: Instance,
  app: GithubApp,
  id: number,
): Promise<Installation> {
  const response = await askAsApp(instance, app, { path: `/app/installations/${id}` })
  return parseResponse(InstallationResponse, instance, response)
}

/** For one repository of the installation, by its name without the owner; null is for all of them. */
export async function createInstallationToken(
  instance: Instance,
  app: GithubApp,
  id: number,
  repository: string | null,
): Promise<string> {
  return createToken(instance, app, id, repository === null ? {} : { repositories: [repository] })
}

/** The path of a repository that had another one, as far as the installation reads it, as in `ada/shop`. */
export async function readPresentPath(
  instance: Instance,
  app: GithubApp,
  id: number,
  former: string,
): Promise<string> {
  const token = await createToken(instance, app, id, { permissions: { metadata: 'read' } })
  const path = former.split('/').map(encodeURIComponent).join('/')
  const url = `${github.apiUrl(instance.baseUrl)}/repos/${path}`
  const response = await ask(instance, { url, token })
  return parseResponse(z.object({ full_name: z.string() }), instance, response).full_name
}

async function createToken(instance: Instance, app: GithubApp, id: number, json: object): Promise<string> {
  const path = `/app/installations/${id}/access_tokens`
  const response = await askAsApp(instance, app, { method: 'POST', path, json })
  return parseResponse(TokenResponse, instance, response).token
}

/** A wrong clock here makes every token of the app invalid, so the provider's own time is tried too. */
async function askAsApp(
  instance: Instance,
  app: GithubApp,
  { path, method = 'GET', json }: Pick<ProviderRequest, 'method' | 'json'> & { path: string },
): Promise<ProviderResponse> {
  const url = `${github.apiUrl(instance.baseUrl)}${path}`
  const askAt = async (nowMs: number) =>
    ask(instance, { method, url, ...(json && { json }), token: await signJwt(app, nowMs) })
  try {
    return await askAt(Date.now())
  } catch (error) {
    const providerMs = error instanceof ProviderRejection && error.status === 401 ? clockOf(error) : null
    if (providerMs === null || Math.abs(providerMs - Date.now()) < jwtLeewaySeconds * 1000) throw error
    return askAt(providerMs)
  }
}

function clockOf({ headers }: ProviderRejection): number | null {
  const at = Date.parse(headers.date ?? '')
  return Number.isNaN(at) ? null : at
}

async function signJwt({ appId, privateKey }: GithubApp, nowMs: number): Promise<string> {
  const now = Math.floor(nowMs / 1000)
  return new SignJWT({})
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
    .setIssuer(String(appId))
    .setIssuedAt(now - jwtLeewaySeconds)
    .setExpirationTime(now + jwtLifetimeSeconds)
    .sign(createPrivateKey(privateKey))
}
