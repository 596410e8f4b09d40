// The browser that is signed in while a run goes on: its own requests may sign it out, and guess so much that
// nobody can sign in for a while.
import { openAccountAccess } from '../../storage/access/account-access.ts'
import type { TestDaemon } from '../support/daemon.ts'
import { type SessionHeaders, signIn, signUp } from '../support/session.ts'

export interface Browser {
  /** What it sends, for requests whose Host names no port. */
  readonly cookie: string
  /** Signs in again when it was signed out. */
  renew(): Promise<void>
}

/** `onSecret` is told of each secret that a cookie holds. */
export async function openBrowser(
  { api, dataDir }: TestDaemon,
  onSecret: (secret: string) => void,
): Promise<Browser> {
  let current = ''

  function use({ cookie }: SessionHeaders): void {
    const secret = cookie.split('=')[1]!
    onSecret(secret)
    current = `svc_session_80=${secret}`
  }

  async function isSignedIn(): Promise<boolean> {
    const headers = { cookie: current.replace('_80=', `_${new URL(api.url).port}=`) }
    return (await fetch(`${api.url}/api/v1/auth/sessions`, { headers })).status === 200
  }

  use(await signUp(api.url, dataDir))
  return {
    get cookie() {
      return current
    },
    async renew() {
      if (await isSignedIn()) return
      await forgetAttempts(dataDir)
      use(await signIn(api.url))
    },
  }
}

/** As who is at the server itself may, beside the daemon. */
async function forgetAttempts(dataDir: string): Promise<void> {
  const access = openAccountAccess(dataDir, { onPanic: () => undefined })
  await access.commit(() => access.attempts.clear())
  await access.close()
}
