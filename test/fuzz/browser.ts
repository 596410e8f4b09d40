// The signed-in browser of a run. The run's own requests may sign it out, or exhaust the
// limit of sign-in attempts.
import { openAccountAccess } from '../../storage/access/account-access.ts'
import type { TestDaemon } from '../support/daemon/daemon.ts'
import { type SessionHeaders, signIn, signUp } from '../support/http/session.ts'

export interface Browser {
  /** The Host header of requests that do not generate one. */
  readonly cookie: string
  /** Signs in again if it was signed out. */
  renew(): Promise<void>
}

/** `onSecret` is called with each secret in a cookie. */
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

/** Resets the limit with access to the server, next to the running daemon. */
async function forgetAttempts(dataDir: string): Promise<void> {
  const access = openAccountAccess(dataDir, { onPanic: () => undefined })
  await access.commit(() => access.attempts.clear())
  await access.close()
}
