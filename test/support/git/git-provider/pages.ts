// The pages of a provider, with a user who agrees to everything at once.
import type { FakeRequest, FakeResponse, FakeState } from './state.ts'
import { type FakeUser, findProblem } from './user.ts'

/** Null for anything that is not a page. The account is the first part of the user's address, or `ada`. */
export function pageResponse(state: FakeState, user: FakeUser, request: FakeRequest): FakeResponse | null {
  const { pathname, searchParams } = new URL(request.path, state.url)
  const stateParam = searchParams.get('state') ?? ''
  const registration = /^(?:\/organizations\/([^/]+))?\/settings\/apps\/new$/.exec(pathname)
  if (registration !== null) {
    const [, organization = 'ada'] = registration
    const manifest = new URLSearchParams(request.body).get('manifest') ?? ''
    const { redirect_url } = JSON.parse(manifest) as { redirect_url: string }
    return sendBack(redirect_url, {
      code: user.registerApp(manifest, organization),
      state: stateParam,
    })
  }
  const [, slug] = /^\/github-apps\/([^/]+)\/installations\/new$/.exec(pathname) ?? []
  if (slug) {
    const installation_id = String(user.installApp(slug, 'ada'))
    const { setupUrl } = state.apps.get(slug)!
    return sendBack(setupUrl, { installation_id, setup_action: 'install', state: stateParam })
  }
  if (!/^\/(login\/)?oauth\/authorize$/.test(pathname)) return null
  const problem = findProblem(state, searchParams)
  if (problem !== null) return { status: 400, text: `<!doctype html><p>${problem}` }
  return sendBack(searchParams.get('redirect_uri')!, user.approve(`${state.url}${request.path}`, 'ada'))
}

/** A page with a link, so that the browser comes from another site. */
function sendBack(address: string, query: Record<string, string>): FakeResponse {
  const url = `${address}?${new URLSearchParams(query)}`.replaceAll('&', '&amp;')
  const head = '<!doctype html><link rel="icon" href="data:,"><title>Provider</title>'
  return { status: 200, text: `${head}<a id="back" href="${url}">Back</a>` }
}
