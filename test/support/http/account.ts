// The API with an account, a signed-in browser and further browsers.
import type { TestContext } from 'node:test'
import { instant } from '../supervisor/supervision.ts'
import { type Browser, openBrowser } from './browser.ts'
import { type Api, cheapHasher, startApi } from './http-context.ts'
import { owner } from './session.ts'

export interface AccountApi extends Api {
  browser: Browser
  /** Opens a browser that is not signed in. */
  signedOut(): Browser
  /** Opens another browser and signs it in. */
  signedIn(): Promise<Browser>
}

const passwordHash = cheapHasher.hash(owner.password)

export async function startWithAccount(
  t: TestContext,
  overrides: Parameters<typeof startApi>[1] = {},
): Promise<AccountApi> {
  const api = await startApi(t, overrides)
  const account = { id: 'usr-1', email: owner.email, password_hash: await passwordHash, created_at: instant }
  await api.storage.commit((commit) => api.storage.account.create(commit, account))
  const signedOut = () => openBrowser(api.url)
  const signedIn = async () => {
    const browser = signedOut()
    await browser.signIn()
    return browser
  }
  return { ...api, browser: await signedIn(), signedOut, signedIn }
}

/** The status, followed by the problem code of an error. */
export function outcomeOf({ status, body }: { status: number; body: { code?: unknown } }): string {
  return status < 400 ? String(status) : `${status} ${body.code}`
}
