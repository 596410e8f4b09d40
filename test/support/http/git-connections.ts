// Git connections over the API of a test: the calls, and the user who authorizes in the browser.
import type { FakeProvider } from '../git/git-provider.ts'
import type { Api } from './http-context.ts'

export const redirectUri = 'https://berth.example.com/git/callback'
export const git = '/api/v1/git'

type Provider = 'github' | 'gitlab' | 'gitea'
export const all: Provider[] = ['github', 'gitlab', 'gitea']

export const connectToken = (api: Api, provider: Provider, { url }: FakeProvider, token: string) =>
  api.call('POST', `${git}/connections`, { body: { provider, token, base_url: url } })
export const authorize = (api: Api, body: object) =>
  api.call('POST', `${git}/authorize`, { body: { redirect_uri: redirectUri, ...body } })
export const callback = (api: Api, body: object) => api.call('POST', `${git}/callback`, { body })
const fieldOf = (value: unknown, name: string) => (value as Record<string, unknown>)[name]
export const connectionOf = ({ body }: { body: Record<string, unknown> }) =>
  body.connection as Record<string, unknown>
export const application = { client_id: 'client', client_secret: 'the client secret' }

/** The user registers the app of the redirect. Returns what GitHub sends back. */
export function registerApp(
  provider: FakeProvider,
  { body }: { body: Record<string, unknown> },
  owner = 'ada',
) {
  const manifest = fieldOf(body.fields, 'manifest') as string
  const code = provider.registerApp(manifest, owner)
  return {
    code,
    state: new URL(body.url as string).searchParams.get('state')!,
    manifest: JSON.parse(manifest),
  }
}

/** Goes through the whole flow of an app. */
export async function connectApp(api: Api, provider: FakeProvider, account = 'ada') {
  const started = await authorize(api, { provider: 'github', base_url: provider.url })
  const { code, state, manifest } = registerApp(provider, started, account)
  const registered = await callback(api, { code, state })
  const installationId = provider.installApp(manifest.name, account)
  const next = new URL(registered.body.url as string).searchParams.get('state')!
  const installed = await callback(api, { state: next, installation_id: String(installationId) })
  return { installed, registered, manifest, installationId, id: connectionOf(installed).id as string }
}
