// The API with its account: a browser that is signed in, and more of them.
// The account's password is hashed as cheaply as argon2 allows, or these tests would do little else.
import type { TestContext } from 'node:test'
import { argon2id, hash } from 'argon2'
import { type Browser, openBrowser } from './browser.ts'
import { type Api, startApi } from './http-context.ts'
import { owner } from './session.ts'
import { instant } from './supervised.ts'

export interface OwnedApi extends Api {
  browser: Browser
  /** One that is not signed in. */
  stranger(): Browser
  /** Another one that signs in. */
  signedIn(): Promise<Browser>
}

const cheapHash = hash(owner.password, { type: argon2id, memoryCost: 1024, timeCost: 2, parallelism: 1 })

export async function startOwned(
  t: TestContext,
  overrides: Parameters<typeof startApi>[1] = {},
): Promise<OwnedApi> {
  const api = await startApi(t, overrides)
  const account = { id: 'usr-1', email: owner.email, password_hash: await cheapHash, created_at: instant }
  await api.storage.commit((commit) => api.storage.account.create(commit, account))
  const stranger = () => openBrowser(api.url)
  const signedIn = async () => {
    const browser = stranger()
    await browser.signIn()
    return browser
  }
  return { ...api, browser: await signedIn(), stranger, signedIn }
}

/** Its status, and the code of a problem. */
export function outcomeOf({ status, body }: { status: number; body: { code?: unknown } }): string {
  return status < 400 ? String(status) : `${status} ${body.code}`
}
